/*kernelwright
format = 1
target = "opencl"
problem = "attention/alibi"
generator = "by hand"
constraints = ["BM * BN <= 2048 && BM < 8"]

[tunables]
BM = {values = [2, 4, 6], default = 4}
BN = {values = [128, 256]}

[defines]
HEAD_DIM = "D"

[scratch]
kt = {dtype = "f32", elements = "D * round_up(Sq, 32)"}

[[launch]]
kernel = "pack"
grid = ["ceil_div(Sq, 32)"]
block = [1]
args = ["Q", "kt", "Sq"]

[[launch]]
kernel = "attention"
grid = ["ceil_div(Sq, BM)", 1, 1]
block = [1, 1, "1"]
shared_bytes = "4 * BM"
args = ["Q", "kt", "O", "shared", "Sq - 1"]
*/
__kernel void pack() {}
__kernel void attention() {}
