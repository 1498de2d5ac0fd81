"""The loss of a classifier, averaged over a batch."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, scores, labels):
        return F.cross_entropy(scores, labels)


batch_size = 4096
classes = 1000


def get_inputs():
    return [torch.randn(batch_size, classes), torch.randint(0, classes, (batch_size,))]


def get_init_inputs():
    return []
