lambda b, *3: b
