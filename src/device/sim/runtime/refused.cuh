#pragma once
// What exists in CUDA C++ and cannot be simulated: using one of these names is an error that quotes it. The worker adds
// the reason (device/sim/build.cpp).

#pragma GCC poison asm __asm__ __asm
#pragma GCC poison __cluster_dims__ this_cluster cluster_group this_grid grid_group this_multi_grid
#pragma GCC poison tex1D tex1Dfetch tex2D tex3D surf2Dread surf2Dwrite cudaTextureObject_t cudaSurfaceObject_t
#pragma GCC poison nvcuda wmma
#pragma GCC poison cudaMalloc cudaFree cudaMemcpy cudaLaunchKernel cudaDeviceSynchronize
