//go:build !amd64 || noasm

package ot

func scalePass(sum, u, k, p, v []float64) { scalePassGo(sum, u, k, p, v) }

func momentPass(sum, q, k, p, v []float64) { momentPassGo(sum, q, k, p, v) }

func exponential(dst, src []float64, scale float64) { exponentialGo(dst, src, scale) }
