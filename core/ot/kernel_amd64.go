//go:build !noasm

package ot

import "github.com/georag/georag/core/vec"

// useAVX2 is decided once; the portable passes remain for older processors.
var useAVX2 = vec.AVX2()

// The passes of kernel.go in assembly: stride and n are positive multiples of rowBlock, cols is at least 1.

//go:noescape
func scalePassAVX2(sum, u, k, p, v *float64, stride, cols int)

//go:noescape
func momentPassAVX2(sum, q, k, p, v *float64, stride, cols int)

//go:noescape
func exponentialAVX2(dst, src *float64, n int, scale float64, constants *float64)

func scalePass(sum, u, k, p, v []float64) {
	if useAVX2 {
		stride, cols := len(p), len(v)
		_, _, _ = sum[lanes*cols-1], u[stride-1], k[stride*cols-1]
		scalePassAVX2(&sum[0], &u[0], &k[0], &p[0], &v[0], stride, cols)
		return
	}
	scalePassGo(sum, u, k, p, v)
}

func momentPass(sum, q, k, p, v []float64) {
	if useAVX2 {
		stride, cols := len(p), len(v)
		_, _, _ = sum[lanes*(cols+cols*(cols-1)/2)-1], q[lanes*cols-1], k[stride*cols-1]
		momentPassAVX2(&sum[0], &q[0], &k[0], &p[0], &v[0], stride, cols)
		return
	}
	momentPassGo(sum, q, k, p, v)
}

func exponential(dst, src []float64, scale float64) {
	if useAVX2 {
		_ = dst[len(src)-1]
		exponentialAVX2(&dst[0], &src[0], len(src), scale, &expConstants[0])
		return
	}
	exponentialGo(dst, src, scale)
}
