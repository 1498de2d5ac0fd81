/*kernelwright
format = 1
target = "cuda"
constraints = ["BM * BN <= 2048", "BM <= max_registers_per_thread"]

[tunables]
BM = {values = [2, 4, 6], default = 4}
BN = {values = [128, 256]}

[[launch]]
kernel = "attention"
grid = ["ceil_div(Sq, BM)"]
block = ["BN"]
args = ["Q", "O", "Sq"]

[[dispatch]]
device = "h200"
when = ["Sq >= 32", "D % 8 == 0"]
tunables = {BM = 6}

[[dispatch]]
device = "Hopper"
tunables = {BM = 2, BN = 256}

[[dispatch]]
when = [1]
tunables = {}
*/
__global__ void attention() {}
