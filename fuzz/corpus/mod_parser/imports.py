from helpers import window, TABLE
from pkg import masks
import pkg.masks as again
from circle import turn
from star import *

def mod(b, h, q_idx, kv_idx):
    return window(W)(b, h, q_idx, kv_idx) & masks.causal(q_idx, kv_idx) | again.never(TABLE[1])
#### helpers.py
from .pkg.masks import SLACK
TABLE = (1, 2)
def window(size):
    def inner(b, h, q, k):
        return q - k <= size + SLACK
    return inner
#### pkg/__init__.py
from . import masks
from .masks import *
#### pkg/masks.py
SLACK = 3
def causal(q, k):
    return q >= k
def never(x):
    return x < 0
#### circle.py
from main import mod
turn = mod
