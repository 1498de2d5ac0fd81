def f: pass
