from torch import (x y)
