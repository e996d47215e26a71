package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"

	"github.com/georag/georag/adapters/httpapi"
	"github.com/georag/georag/adapters/milvus"
	"github.com/georag/georag/adapters/milvusproxy"
	"github.com/georag/georag/adapters/qdrant"
	"github.com/georag/georag/adapters/qdrantproxy"
	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/secret"
	"github.com/georag/georag/internal/selectproxy"
)

// ProxiesConfig says which database's own protocols `georag serve` speaks.
type ProxiesConfig struct {
	Qdrant *qdrantproxy.Config `koanf:"qdrant"`
	Milvus *milvusproxy.Config `koanf:"milvus"`
}

// validate reports the first setting out of its range, or that does not go with the store or the server; the error
// wraps [core.ErrInvalid].
func (p ProxiesConfig) validate(store StoreConfig, server httpapi.Config) error {
	if q := p.Qdrant; q != nil {
		if store.Qdrant == nil {
			return fmt.Errorf("%w: proxies.qdrant needs store.qdrant", core.ErrInvalid)
		}
		if err := q.Validate(); err != nil {
			return fmt.Errorf("proxies.qdrant: %w", err)
		}
		if q.GRPCListen != "" {
			if err := server.CheckExposure(q.GRPCListen); err != nil {
				return fmt.Errorf("proxies.qdrant.grpc_listen: %w", err)
			}
		}
	}
	if m := p.Milvus; m != nil {
		if store.Milvus == nil {
			return fmt.Errorf("%w: proxies.milvus needs store.milvus", core.ErrInvalid)
		}
		if err := m.Validate(); err != nil {
			return fmt.Errorf("proxies.milvus: %w", err)
		}
	}
	return nil
}

// proxies are what speaks the databases' own protocols. They are made before the server whose routes they are, and
// know it once it is there.
type proxies struct {
	routes   []httpapi.Route
	selector *selectproxy.Selector
	grpc     func() (*qdrantproxy.GRPC, error) // nil is none
	listen   string                            // of grpc
	keyed    bool                              // clients present keys of this service
	server   *httpapi.Server
	open     closers
}

// openProxies makes the configured proxies; stage is the template of theirs. The caller closes proxies.open, also
// after an error.
func openProxies(c Config, stage core.Stage) (*proxies, error) {
	p := &proxies{keyed: c.Server.Auth.KeysFile != ""}
	p.selector = &selectproxy.Selector{
		Collections: map[string]selectproxy.Collection{},
		Admit:       func(ctx context.Context) (func(), error) { return p.server.Admit(ctx) },
		Problem:     problemOf,
		Record:      func(ctx context.Context, made core.Trace) { p.server.Selected(ctx, made) },
	}
	if c.Proxies.Qdrant != nil {
		return p, p.openQdrant(*c.Proxies.Qdrant, *c.Store.Qdrant, stage)
	}
	if c.Proxies.Milvus != nil {
		return p, p.openMilvus(*c.Proxies.Milvus, *c.Store.Milvus, stage)
	}
	return p, nil
}

// problemOf is an error as the service tells it, for other protocols.
func problemOf(err error) selectproxy.Problem {
	f := httpapi.FaultOf(err)
	return selectproxy.Problem{Status: f.Status, Message: f.Message, RetryAfter: f.RetryAfter}
}

// addCollections gives each named collection a stage of its own. The store's own collection is among them unless
// others are named.
func (p *proxies) addCollections(own string, named, always []string, stage core.Stage, open func(name string) (core.Store, error)) error {
	if len(named) == 0 {
		named = []string{own}
	}
	for _, name := range slices.Concat(named, always) {
		if _, twice := p.selector.Collections[name]; twice {
			continue
		}
		store, err := open(name)
		if err != nil {
			return err
		}
		p.open.add(store)
		one := stage
		one.Store = store
		p.selector.Collections[name] = selectproxy.Collection{Stage: &one, Always: slices.Contains(always, name)}
	}
	return nil
}

func (p *proxies) openQdrant(c qdrantproxy.Config, store qdrant.Config, stage core.Stage) error {
	err := p.addCollections(store.Collection, c.Collections, c.Always, stage, func(name string) (core.Store, error) {
		one := store
		one.Collection, one.IDField = name, "" // Qdrant's clients know points by their own IDs
		return qdrant.New(one)
	})
	if err != nil {
		return err
	}
	p.selector.Timeout = c.SelectTimeout
	credentials, err := p.credentials(store.Source, "api-key", func(key string) string { return key })
	if err != nil {
		return err
	}
	if c.GRPCListen != "" {
		addr, secure, err := store.Target()
		if err != nil {
			return err
		}
		p.listen = c.GRPCListen
		p.grpc = func() (*qdrantproxy.GRPC, error) {
			return qdrantproxy.NewGRPC(qdrantproxy.GRPCDeps{
				Selector: p.selector, Credentials: credentials, TLS: p.server.TLS(), Target: addr, TargetTLS: secure,
				Finished: p.server.Finished, Drain: p.server.Drain(),
				Authenticate: func(h http.Header) (string, error) {
					who, err := p.server.AuthenticateHeader(h)
					return who.Tenant, err
				},
			})
		}
	}
	if c.URL == "" {
		return nil
	}
	rest, err := qdrantproxy.NewREST(c, selectproxy.Deps{Selector: p.selector, Tenant: tenantOf, Credentials: credentials})
	if err != nil {
		return err
	}
	for _, endpoint := range rest.Endpoints() {
		p.route(endpoint.Pattern, endpoint.Handler, func(f *httpapi.Fault) any { return qdrantproxy.NewErrorBody(f.Message) })
	}
	return nil
}

func (p *proxies) openMilvus(c milvusproxy.Config, store milvus.Config, stage core.Stage) error {
	c.Database, c.IDField = cmp.Or(c.Database, store.Database), cmp.Or(c.IDField, store.IDField)
	err := p.addCollections(store.Collection, c.Collections, c.Always, stage, func(name string) (core.Store, error) {
		one := store
		one.Collection = name
		return milvus.New(one)
	})
	if err != nil {
		return err
	}
	p.selector.Timeout = c.SelectTimeout
	credentials, err := p.credentials(store.Source, "Authorization", func(key string) string {
		if store.Username != "" {
			key = store.Username + ":" + key
		}
		return "Bearer " + key
	})
	if err != nil {
		return err
	}
	rest, err := milvusproxy.NewREST(c, selectproxy.Deps{Selector: p.selector, Tenant: tenantOf, Credentials: credentials})
	if err != nil {
		return err
	}
	for _, endpoint := range rest.Endpoints() {
		p.route(endpoint.Pattern, endpoint.Handler, func(f *httpapi.Fault) any { return milvusproxy.NewErrorBody(f.Status, f.Message) })
	}
	return nil
}

// tenantOf is the tenant that a request's key is bound to.
func tenantOf(ctx context.Context) string { return httpapi.PrincipalOf(ctx).Tenant }

// credentials are those for the database: where clients present keys of this service, this service's own.
func (p *proxies) credentials(source secret.Source, name string, write func(key string) string) (selectproxy.Credentials, error) {
	c := selectproxy.Credentials{Replace: p.keyed}
	key, err := source.Load()
	if err == nil && !key.IsZero() {
		c.Name, c.Value = name, write(key.Reveal())
	}
	return c, err
}

// route adds an endpoint that reads bodies and waits for its turn itself.
func (p *proxies) route(pattern string, handler http.Handler, shape func(*httpapi.Fault) any) {
	p.routes = append(p.routes, httpapi.Route{Pattern: pattern, Handler: handler, Free: true, Shape: shape})
}

// run runs the server and, beside it, the proxy of gRPC, until ctx ends or one of them fails.
func (p *proxies) run(ctx context.Context, server *httpapi.Server) error {
	p.server = server
	for _, collection := range p.selector.Collections {
		*collection.Stage = server.Instrument(*collection.Stage)
	}
	if p.grpc == nil {
		return server.Run(ctx)
	}
	proxy, err := p.grpc()
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", p.listen)
	if err != nil {
		return fmt.Errorf("proxies.qdrant.grpc_listen: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		defer cancel()
		ended <- proxy.Serve(ctx, listener)
	}()
	err = server.Run(ctx)
	cancel()
	return errors.Join(err, <-ended)
}
