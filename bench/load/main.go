// Command load drives `georag serve` as a process of its own and holds it to what is promised of it under load.
//
//	load [-mode all] [-for 60s] [-clients 64] [-rate 0] [-selector georag] [-rounds 50] [-georag PATH]
//
// The modes: "load" is a closed loop of clients, then arrivals at twice the rate of answers it reached; "soak" watches
// memory and goroutines under a steady closed loop; "kill" ends the store under load and brings it back; "stop" sends
// SIGTERM under 32 requests in flight, again and again; "all" is each of them in this order. Requests are those of
// POST /v1/select with vectors in base64, K = 200 and an answer of 5, over the corpus of package bench. The exit code
// is 1 where something promised did not hold.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

// options are the command line.
type options struct {
	span     time.Duration // of each half of a load, of a soak, and of a kill's load
	clients  int
	rate     float64 // of the open loop, a second; 0 is twice the closed loop's
	selector string
	rounds   int // of stopping
	georag   string
}

// modes in the order of "all".
var modes = []struct {
	name string
	run  func(ctx context.Context, o options) error
}{{"load", load}, {"soak", soak}, {"kill", kill}, {"stop", stop}}

func main() {
	var o options
	mode := flag.String("mode", "all", "load, soak, kill, stop or all")
	flag.DurationVar(&o.span, "for", time.Minute, "how long each half of a load, or a soak, takes")
	flag.IntVar(&o.clients, "clients", 64, "clients of the closed loop")
	flag.Float64Var(&o.rate, "rate", 0, "arrivals a second of the open loop; 0 is twice what the closed loop reached")
	flag.StringVar(&o.selector, "selector", "georag", "selector of every request")
	flag.IntVar(&o.rounds, "rounds", 50, "how often the service is stopped")
	flag.StringVar(&o.georag, "georag", "", "program to drive; it is built from this module where none is named")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *mode, o)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, mode string, o options) error {
	if o.georag == "" {
		dir, err := os.MkdirTemp("", "georag-load")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		o.georag = filepath.Join(dir, "georag")
		build := exec.CommandContext(ctx, "go", "build", "-o", o.georag, "github.com/georag/georag/cmd/georag")
		if said, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(said)))
		}
	}
	known, failed := false, error(nil)
	for _, m := range modes {
		if mode == "all" || mode == m.name {
			known = true
			if err := m.run(ctx, o); err != nil {
				failed = errors.Join(failed, fmt.Errorf("%s: %w", m.name, err))
			}
		}
	}
	if !known {
		return fmt.Errorf("no mode is called %q", mode)
	}
	return failed
}
