def mod(b, h, q, k):
    async def f(): pass
    return q >= k
