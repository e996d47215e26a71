// Command ours is our half of peers.py: it runs selectors on given problems and prints the processor time of each.
//
//	ours [-k 5] [-runs 5] [-selectors georag,facility,…] DIR
//
// DIR holds vectors.npy (problems × n × d, unit rows), queries.npy (problems × d) and demand.npy (problems × n), all
// float32. The answer is one JSON object per selector: rows chosen and nanoseconds per problem, the least of the runs,
// with the similarity columns known beforehand ("select") and with their computation ("total").
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/georag/georag/bench"
	"github.com/georag/georag/core/pick"
	"github.com/georag/georag/internal/npy"
)

func main() {
	k := flag.Int("k", 5, "passages to select")
	runs := flag.Int("runs", 5, "runs of each problem; the least time counts")
	names := flag.String("selectors", "georag,facility,mmr,dpp", "comma-separated; georag-published is the 100-iteration mode")
	flag.Parse()
	if err := run(flag.Arg(0), strings.Split(*names, ","), *k, *runs); err != nil {
		fmt.Fprintln(os.Stderr, "ours:", err)
		os.Exit(1)
	}
}

// problem is one question's candidates.
type problem struct {
	dim   int
	units []float32
	pick.Problem
}

// timing is what is printed of one selector.
type timing struct {
	Selector string    `json:"selector"`
	Rows     [][]int   `json:"rows"`
	Select   []float64 `json:"select"`
	Total    []float64 `json:"total"`
}

func run(dir string, names []string, k, runs int) error {
	problems, err := load(dir)
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	out := json.NewEncoder(os.Stdout)
	for _, name := range names {
		t, err := measure(name, problems, k, runs)
		if err == nil {
			err = out.Encode(t)
		}
		if err != nil {
			return fmt.Errorf("selector %s: %w", name, err)
		}
	}
	return nil
}

func load(dir string) ([]problem, error) {
	var parts [3]*npy.Matrix
	for i, name := range []string{"vectors.npy", "queries.npy", "demand.npy"} {
		matrix, err := npy.Open(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		defer matrix.Close()
		parts[i] = matrix
	}
	vectors, queries, demand := parts[0], parts[1], parts[2]
	n := demand.Dim()
	problems := make([]problem, queries.Rows())
	for i := range problems {
		p := &problems[i]
		p.dim = vectors.Dim()
		for row := range n {
			p.units = append(p.units, vectors.Row(nil, i*n+row)...)
		}
		geometry, err := pick.NewVectors(p.dim, p.units)
		if err != nil {
			return nil, err
		}
		p.Similarity = geometry
		p.Query = geometry.Cosines(make([]float64, n), queries.Row(nil, i))
		p.Demand = normalised(demand.Row(nil, i))
	}
	return problems, nil
}

// normalised is a distribution stored in single precision.
func normalised(shares []float32) []float64 {
	total, p := 0.0, make([]float64, len(shares))
	for _, x := range shares {
		total += float64(x)
	}
	for i, x := range shares {
		p[i] = float64(x) / total
	}
	return p
}

func measure(name string, problems []problem, k, runs int) (timing, error) {
	t := timing{Selector: name}
	options := pick.DefaultOptions()
	if base, ok := strings.CutSuffix(name, "-published"); ok {
		name, options.GeoRAG.Sinkhorn = base, pick.Published
	}
	selector, err := pick.New(name, options)
	if err != nil {
		return t, err
	}
	into := selector.(pick.SelectorInto)
	var result pick.Result
	for i := range problems {
		p := &problems[i]
		geometry := p.Similarity.(*pick.Vectors)
		total, selection := math.Inf(1), math.Inf(1)
		for range runs + 1 { // the first of each kind warms up
			start := bench.CPU()
			if err := geometry.Reset(p.dim, p.units); err != nil {
				return t, err
			}
			if err := into.SelectInto(context.Background(), &result, &p.Problem, k); err != nil {
				return t, err
			}
			total = min(total, since(start))
			start = bench.CPU()
			if err := into.SelectInto(context.Background(), &result, &p.Problem, k); err != nil {
				return t, err
			}
			selection = min(selection, since(start))
		}
		t.Rows = append(t.Rows, result.Rows())
		t.Select, t.Total = append(t.Select, selection), append(t.Total, total)
	}
	return t, nil
}

func since(start time.Duration) float64 { return float64((bench.CPU() - start).Nanoseconds()) }
