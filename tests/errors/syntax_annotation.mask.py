x: int 3
