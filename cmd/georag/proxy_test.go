package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/georag/georag/core"
)

// TestProxiesConfig: what does not go together is refused before anything listens.
func TestProxiesConfig(t *testing.T) {
	qdrant, milvus := "store: {qdrant: {addr: a, collection: docs}}\n", "store: {milvus: {addr: a, collection: docs}}\n"
	for content, says := range map[string]string{
		qdrant + "proxies: {qdrant: {url: http://q:6333}}":                                           "",
		qdrant + "proxies: {qdrant: {grpc_listen: 127.0.0.1:8334, always: [a, b]}}":                  "",
		milvus + "proxies: {milvus: {url: http://m:19530}}":                                          "",
		qdrant + "proxies: {milvus: {url: http://m:19530}}":                                          "needs store.milvus",
		milvus + "proxies: {qdrant: {url: http://q:6333}}":                                           "needs store.qdrant",
		qdrant + "proxies: {qdrant: {always: [a]}}":                                                  "neither url",
		qdrant + "proxies: {qdrant: {url: q}}":                                                       "url",
		qdrant + "proxies: {qdrant: {grpc_listen: q}}":                                               "grpc_listen",
		qdrant + "proxies: {qdrant: {grpc_listen: 0.0.0.0:8334}}":                                    "others can reach",
		milvus + "proxies: {milvus: {url: http://m, id_field: 'a b'}}":                               "id_field",
		qdrant + "proxies: {qdrant: {url: http://q:6333, collections: ['']}}":                        "collections",
		qdrant + "server: {auth: {anonymous: true}}\nproxies: {qdrant: {grpc_listen: 0.0.0.0:8334}}": "",
	} {
		err := mustRead(t, "proxy.yaml", content).Validate()
		if (err == nil) != (says == "") || err != nil && (!errors.Is(err, core.ErrInvalid) || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s: %v", content, err)
		}
	}
}

// TestProxiedCollections: every named collection has a stage of its own, and only those of rules select unasked.
func TestProxiedCollections(t *testing.T) {
	c := mustRead(t, "proxy.yaml", "store: {qdrant: {addr: 127.0.0.1:1, collection: docs, id_field: key}}\nproxies: {qdrant: {url: http://q:6333, always: [notes]}}")
	p, err := openProxies(c, core.Stage{Settings: c.Settings})
	if err != nil {
		t.Fatal(err)
	}
	defer p.open.Close()
	found := p.selector.Collections
	if len(found) != 2 || found["docs"].Always || !found["notes"].Always || found["docs"].Stage == found["notes"].Stage || found["docs"].Stage.Store == found["notes"].Stage.Store {
		t.Errorf("%+v", found)
	}
	if len(p.routes) < 10 || p.grpc != nil {
		t.Errorf("%d routes, gRPC %v", len(p.routes), p.grpc != nil)
	}
}
