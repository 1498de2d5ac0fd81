lambda b, h, q, k: [x async for x in y]
