/*kernelwright
format=1
target="cuda"
deterministic=false
[[launch]]
kernel="k"
grid=["max(1, -Sq % 3)"]
block=[1]
args=["Q","O"]
*/
x