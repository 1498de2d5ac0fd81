import torch as 3
