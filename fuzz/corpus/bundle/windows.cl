
/* kernelwright
format = 1
target = "hip"
generator = "\u002A/ \n"
[defines]
A = "!(1 <= 2) || D / 0"
[[launch]]
kernel = "k"
grid = [1, 2, 3]
block = [1, 1, 1]
args = []
*/
x