from torch export x
