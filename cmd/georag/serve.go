package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/georag/georag/adapters/httpapi"
	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/obs"
)

// flushTimeout bounds sending the last traces.
const flushTimeout = 5 * time.Second

func newServe(s streams) *cobra.Command {
	f := &configFlags{}
	var sample, noPage bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve selections over HTTP, in front of the configured store",
		Long: `Serve POST /v1/select, the rerank protocols of Cohere, Jina and TEI, /metrics, /healthz, /readyz and /openapi.json in
front of the configured store, and at /ui a page that shows what selection does. --demo serves the small corpus that is
part of the program, so that the page works with nothing configured. The first SIGTERM or interrupt lets requests
under way end, a second one does not.`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := f.read()
			if err != nil {
				return err
			}
			return serve(cmd.Context(), s, c, serving{sample, !noPage})
		},
	}
	f.register(cmd)
	cmd.Flags().String("listen", "", "address to serve at; the default is "+httpapi.DefaultListen)
	cmd.Flags().BoolVar(&sample, "demo", false, "serve the small corpus that is part of the program")
	cmd.Flags().BoolVar(&noPage, "no-ui", false, "leave out the page at /ui")
	f.extra = append(f.extra, settingFlag{"listen", "server.listen", ""})
	return cmd
}

// serving says what is served.
type serving struct{ demo, page bool }

func serve(ctx context.Context, s streams, c Config, what serving) (err error) {
	stage, open, err := what.openStage(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, open.Close()) }()
	if err := checkDimension(ctx, stage); err != nil {
		return err
	}
	tracing, err := obs.NewTracing(ctx, c.Tracing, version())
	if err != nil {
		return err
	}
	defer func() {
		flush, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
		defer cancel()
		err = errors.Join(err, tracing.Close(flush))
	}()
	speaking, err := openProxies(c, stage)
	defer func() { err = errors.Join(err, speaking.open.Close()) }()
	if err != nil {
		return err
	}
	page, err := openPage(what, what.collection(c), &stage)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, page.open.Close()) }()
	server, err := httpapi.New(withLoadOf(c).Server, httpapi.Deps{
		Stages:  map[string]*core.Stage{what.collection(c): &stage},
		Routes:  append(speaking.routes, page.routes...),
		Log:     slog.New(slog.NewJSONHandler(s.err, nil)),
		Tracing: tracing, Version: version(),
	})
	if err != nil {
		return err
	}
	listen := c.Server.Listen
	if listen == "" {
		listen = httpapi.DefaultListen
	}
	page.server = server
	fmt.Fprintf(s.err, "georag %s serves %s at %s%s\n", version(), what.collection(c), listen, page.where())
	return speaking.run(ctx, server)
}

func (w serving) openStage(ctx context.Context, c Config) (core.Stage, io.Closer, error) {
	if w.demo {
		return openDemo(ctx, c)
	}
	return openStage(ctx, c)
}

// collection is the name of what is served.
func (w serving) collection(c Config) string {
	if w.demo {
		return "demo"
	}
	return collectionOf(c.Store)
}

// collectionOf is the name under which requests find the stage.
func collectionOf(c StoreConfig) string {
	switch {
	case c.Qdrant != nil:
		return c.Qdrant.Collection
	case c.Milvus != nil:
		return c.Milvus.Collection
	}
	return "flat"
}

// withLoadOf sets how much is worked on at once where the configuration does not. A request to an embedded index needs a
// processor all the time, so more than one for each only makes all of them late; one to a server mostly waits.
func withLoadOf(c Config) Config {
	if c.Store.Flat != nil && c.Server.Load.Running == 0 && c.Server.Load.Wait == 0 {
		c.Server.Load.Running, c.Server.Load.Wait = runtime.GOMAXPROCS(0), 50*time.Millisecond
	}
	return c
}
