package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve selections over HTTP, in front of the configured store",
		Long: `Serve POST /v1/select, the rerank protocols of Cohere, Jina and TEI, /metrics, /healthz, /readyz and /openapi.json in
front of the configured store. The first SIGTERM or interrupt lets requests under way end, a second one does not.`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := f.read()
			if err != nil {
				return err
			}
			return serve(cmd.Context(), s, c)
		},
	}
	f.register(cmd)
	cmd.Flags().String("listen", "", "address to serve at; the default is "+httpapi.DefaultListen)
	f.extra = append(f.extra, settingFlag{"listen", "server.listen", ""})
	return cmd
}

func serve(ctx context.Context, s streams, c Config) (err error) {
	stage, open, err := openStage(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, open.Close()) }()
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
	server, err := httpapi.New(c.Server, httpapi.Deps{
		Stages:  map[string]*core.Stage{collectionOf(c.Store): &stage},
		Routes:  speaking.routes,
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
	fmt.Fprintf(s.err, "georag %s serves %s at %s\n", version(), collectionOf(c.Store), listen)
	return speaking.run(ctx, server)
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
