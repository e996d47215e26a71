package vec

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestCheckSeesEveryComponent(t *testing.T) {
	const least, most = math.SmallestNonzeroFloat32, math.MaxFloat32
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, dim := range []int{1, 7, 8, 9, 384} {
		for at := range dim {
			for _, c := range []struct {
				x    float32
				want error
			}{{0, ErrZero}, {least, nil}, {-most, nil}, {nan, ErrNotFinite}, {inf, ErrNotFinite}, {-inf, ErrNotFinite}} {
				v := make([]float32, dim)
				v[at] = c.x
				if err := Check(v, dim); !errors.Is(err, c.want) {
					t.Fatalf("%v at %d of %d: %v, want %v", c.x, at, dim, err, c.want)
				}
			}
		}
	}
	if err := Check([]float32{1, 2, inf, nan}, 4); err == nil || !strings.Contains(err.Error(), "component 2 is +Inf") {
		t.Errorf("error is %v", err)
	}
	if err := Check([]float32{most, most, most}, 0); err != nil {
		t.Errorf("the largest numbers: %v", err)
	}
	for _, v := range [][]float32{nil, {1}} {
		if err := Check(v, 2); !errors.Is(err, ErrDimension) {
			t.Errorf("%v: %v", v, err)
		}
	}
}
