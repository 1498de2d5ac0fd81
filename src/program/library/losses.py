# Losses of torch.nn that are a few calls of operators (https://pytorch.org/docs/stable/nn.html#loss-functions).
import torch
import torch.nn as nn
import torch.nn.functional as F


def _reduced(loss, reduction):
    if reduction == "none":
        return loss
    return loss.sum() if reduction == "sum" else loss.mean()


class MultiLabelSoftMarginLoss(nn.Module):
    def __init__(self, weight=None, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        self.weight = weight
        self.reduction = reduction

    def forward(self, input, target):
        loss = -(target * F.logsigmoid(input) + (1 - target) * F.logsigmoid(-input))
        if self.weight is not None:
            loss = loss * self.weight
        return _reduced(loss.mean(dim=-1), self.reduction)


class MultiMarginLoss(nn.Module):
    def __init__(self, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        self.p = p
        self.margin = margin
        self.weight = weight
        self.reduction = reduction

    def forward(self, input, target):
        right = input.gather(-1, target.unsqueeze(-1))
        loss = F.relu(self.margin - right + input)
        if self.p != 1:
            loss = loss ** self.p
        if self.weight is not None:
            loss = loss * self.weight[target].unsqueeze(-1)
        others = 1 - F.one_hot(target, input.shape[-1])
        return _reduced((loss * others).sum(dim=-1) / input.shape[-1], self.reduction)


class TripletMarginWithDistanceLoss(nn.Module):
    def __init__(self, distance_function=None, margin=1.0, swap=False, reduction="mean"):
        super().__init__()
        self.distance_function = distance_function if distance_function is not None else F.pairwise_distance
        self.margin = margin
        self.swap = swap
        self.reduction = reduction

    def forward(self, anchor, positive, negative):
        near = self.distance_function(anchor, positive)
        far = self.distance_function(anchor, negative)
        if self.swap:
            far = torch.minimum(far, self.distance_function(positive, negative))
        return _reduced(F.relu(near - far + self.margin), self.reduction)
