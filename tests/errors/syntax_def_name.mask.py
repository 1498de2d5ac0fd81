def 3(b): pass
