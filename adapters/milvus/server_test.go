package milvus

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/milvus-io/milvus-sdk-go/v2/client"

	"github.com/georag/georag/adapters/storetest"
	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/milvusserver"
	"github.com/georag/georag/internal/secret"
)

// rootPassword is Milvus's own for its first user.
const rootPassword = "Milvus"

// TestOwnServer does to a server what others must not see: it demands passwords, has a second database, and is
// killed and started again.
func TestOwnServer(t *testing.T) {
	t.Parallel() // it waits more than it works
	// A killed server's registration, and with it the pauses of its successor, end sooner with a short lease.
	server := milvusserver.Own(t, "common.security.authorizationEnabled=true", "common.session.ttl=3")
	passages := randomPassages(50, 8)
	root := Config{Addr: server.Addr(), Collection: "one", Username: "root", Source: keyFile(t, rootPassword), Consistency: "strong", Policy: patient}
	content := storetest.Collection{Passages: passages, Dimension: 8, Metric: core.MetricDot, IDs: storetest.IntIDs}
	load(t, root, content)
	t.Run("credentials", func(t *testing.T) { withCredentials(t, root, passages[0].Vector) })
	t.Run("database", func(t *testing.T) { databases(t, root, content) })
	t.Run("tls", func(t *testing.T) { encrypted(t, root, passages[0].Vector) })
	t.Run("restart", func(t *testing.T) { restart(t, server, root, askAll(passages)) })
}

func keyFile(t *testing.T, key string) secret.Source {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte(key), 0o600); err != nil {
		t.Fatal(err)
	}
	return secret.Source{File: path}
}

func load(t *testing.T, cfg Config, c storetest.Collection) {
	t.Helper()
	s := newStore(t, cfg)
	defer s.Close()
	if err := s.Create(t.Context(), specOf(c, true)); err != nil {
		t.Fatal(err)
	}
	put(t, cfg, c)
}

func searchOnce(t *testing.T, cfg Config, v []float32) error {
	t.Helper()
	s := newStore(t, cfg)
	defer s.Close()
	_, err := s.Search(t.Context(), core.SearchRequest{Vector: v, K: 3})
	return err
}

func withCredentials(t *testing.T, root Config, v []float32) {
	for name, c := range map[string]struct {
		user   string
		source secret.Source
		want   error
	}{
		"password":       {"root", keyFile(t, rootPassword), nil},
		"token":          {"", keyFile(t, "root:"+rootPassword), nil},
		"wrong password": {"root", keyFile(t, "canary-5e1f"), core.ErrUnauthorized},
		"unknown user":   {"nobody", keyFile(t, rootPassword), core.ErrUnauthorized},
		"wrong token":    {"", keyFile(t, "canary-5e1f"), core.ErrUnauthorized},
		"none":           {"", secret.Source{}, core.ErrUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := root
			cfg.Username, cfg.Source = c.user, c.source
			err := searchOnce(t, cfg, v)
			if !errors.Is(err, c.want) {
				t.Errorf("error is %v, want %v", err, c.want)
			}
			if err != nil && (strings.Contains(err.Error(), "canary") || strings.Contains(err.Error(), rootPassword+"\"")) {
				t.Errorf("the error shows the key: %v", err)
			}
		})
	}
}

func databases(t *testing.T, root Config, c storetest.Collection) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	admin, err := client.NewClient(ctx, client.Config{Address: root.Addr, Username: "root", Password: rootPassword})
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	if err := admin.CreateDatabase(ctx, "second"); err != nil {
		t.Fatal(err)
	}
	other := root
	other.Database, other.Collection = "second", "two"
	load(t, other, c)
	if err := searchOnce(t, other, c.Passages[0].Vector); err != nil {
		t.Error(err)
	}
	for _, wrong := range []struct{ database, collection, lists string }{{"", "two", "one"}, {"second", "one", "two"}, {"third", "one", "third"}} {
		cfg := root
		cfg.Database, cfg.Collection = wrong.database, wrong.collection
		err := searchOnce(t, cfg, c.Passages[0].Vector)
		if !errors.Is(err, core.ErrNotFound) || !strings.Contains(err.Error(), wrong.lists) {
			t.Errorf("collection %q of database %q: error %v does not say %q", wrong.collection, wrong.database, err, wrong.lists)
		}
	}
}

// encrypted puts TLS before the server: the handshake is the store's, the answers are Milvus's.
func encrypted(t *testing.T, root Config, v []float32) {
	pair, ca := certificate(t)
	proxy := tlsProxy(t, root.Addr, pair)
	trusting := root
	trusting.Addr, trusting.TLS = proxy, TLS{Enabled: true, CAFile: ca}
	if err := searchOnce(t, trusting, v); err != nil {
		t.Errorf("with the right authority: %v", err)
	}
	scheme := trusting
	scheme.Addr, scheme.TLS.Enabled = "https://"+proxy, false
	if err := searchOnce(t, scheme, v); err != nil {
		t.Errorf("by https://: %v", err)
	}
	for name, wrong := range map[string]Config{
		"unknown authority": with(trusting, func(c *Config) { c.TLS.CAFile = "" }),
		"other name":        with(trusting, func(c *Config) { c.TLS.ServerName = "milvus.example" }),
		"no TLS":            with(trusting, func(c *Config) { c.TLS = TLS{} }),
		"TLS to plain text": with(trusting, func(c *Config) { c.Addr = root.Addr }),
	} {
		if err := searchOnce(t, wrong, v); !errors.Is(err, core.ErrUnavailable) {
			t.Errorf("%s: error is %v, want %v", name, err, core.ErrUnavailable)
		}
	}
}

func with(cfg Config, change func(*Config)) Config {
	change(&cfg)
	return cfg
}

// certificate makes a certificate for 127.0.0.1 that is its own authority, and the authority's file.
func certificate(t *testing.T) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, path
}

// tlsProxy takes TLS off and passes on to target until the test ends.
func tlsProxy(t *testing.T, target string, pair tls.Certificate) string {
	t.Helper()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			outer, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() { join(outer, target) })
		}
	})
	t.Cleanup(func() { listener.Close(); running.Wait() })
	return listener.Addr().String()
}

// join copies both ways until one side ends.
func join(outer net.Conn, target string) {
	defer outer.Close()
	inner, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(outer, inner) // either side's end is an end
		outer.Close()
	})
	_, _ = io.Copy(inner, outer)
	inner.Close()
	back.Wait()
}

// restart kills the server under a store, and requires the same store to work soon after a new one would.
func restart(t *testing.T, server *milvusserver.Server, cfg Config, request core.SearchRequest) {
	cfg.Policy.Timeout = time.Second
	l := newLine(t, cfg, request)
	l.recovers(t)
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := l.search(t); err == nil {
		t.Error("no error from a killed server")
	}
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	for start := time.Now(); time.Since(start) < time.Minute; time.Sleep(20 * time.Millisecond) {
		if searchOnce(t, cfg, request.Vector) == nil {
			l.recovers(t)
			return
		}
		_ = l.search(t) // meanwhile it may fail, and only as it should
	}
	t.Error("the restarted server did not answer a new store either")
}
