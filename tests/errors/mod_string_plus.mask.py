lambda b, h, q, k: ("a" + "b") == "ab"
