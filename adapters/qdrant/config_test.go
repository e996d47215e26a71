package qdrant_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/credentials"

	"github.com/georag/georag/adapters/qdrant"
	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/qdranttest"
	"github.com/georag/georag/internal/qdranttest/conformance"
)

func TestValidate(t *testing.T) {
	good := qdrant.Config{Addr: "localhost", Collection: "docs"}
	if err := good.Validate(); err != nil {
		t.Errorf("the least configuration: %v", err)
	}
	for says, spoil := range map[string]func(*qdrant.Config){
		"addr is missing":       func(c *qdrant.Config) { c.Addr = "" },
		"collection is missing": func(c *qdrant.Config) { c.Collection = "" },
		"ftp://host":            func(c *qdrant.Config) { c.Addr = "ftp://host" },
		"host/path":             func(c *qdrant.Config) { c.Addr = "https://host/path" },
		"host:6334:1":           func(c *qdrant.Config) { c.Addr = "host:6334:1" },
		"for all addresses":     func(c *qdrant.Config) { c.Addrs = []string{"https://other"} },
		"oversampling":          func(c *qdrant.Config) { c.Search.Quantization.Oversampling = 0.5 },
		"consistency":           func(c *qdrant.Config) { c.Consistency = "most" },
		"number of replicas":    func(c *qdrant.Config) { c.Consistency = "0" },
		"shard_keys":            func(c *qdrant.Config) { c.ShardKeys = []string{""} },
		"payload_fields":        func(c *qdrant.Config) { c.PayloadFields = []string{""} },
		"hybrid_vectors":        func(c *qdrant.Config) { c.HybridVectors = []string{""} },
		"hybrid_depth":          func(c *qdrant.Config) { c.HybridDepth = -1 },
		"rrf_k":                 func(c *qdrant.Config) { c.RRFK = -1 },
		"outside_vectors":       func(c *qdrant.Config) { c.OutsideVectors = "later" },
		"write_timeout":         func(c *qdrant.Config) { c.WriteTimeout = -1 },
		"max_message_bytes":     func(c *qdrant.Config) { c.MaxMessageBytes = -1 },
		"tls.cert_file":         func(c *qdrant.Config) { c.TLS.CertFile = "x" },
		"timeout":               func(c *qdrant.Config) { c.Timeout = -1 },
		"api_key_env":           func(c *qdrant.Config) { c.Source.Env, c.Source.File = "A", "b" },
	} {
		c := good
		spoil(&c)
		if _, err := qdrant.New(c); !errors.Is(err, core.ErrInvalid) || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v does not say %q", err, says)
		}
	}
	for _, addr := range []string{"localhost", "localhost:6334", "[::1]", "[::1]:6334", "http://10.0.0.1:6334/", "https://x.cloud.qdrant.io"} {
		good.Addr = addr
		if err := good.Validate(); err != nil {
			t.Errorf("%s: %v", addr, err)
		}
	}
}

// TestRESTPort: the port people know is named where the call fails.
func TestRESTPort(t *testing.T) {
	s := conformance.Opened(t, qdrant.Config{Addr: "127.0.0.1:6333", Collection: "docs"})
	if _, err := s.Search(t.Context(), ask); err == nil || !strings.Contains(err.Error(), "gRPC port is 6334") {
		t.Errorf("error %v does not name the gRPC port", err)
	}
}

// certificate makes one for 127.0.0.1 and writes it to a file.
func certificate(t *testing.T) (file string, transport credentials.TransportCredentials) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"qdrant.test"}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "cert.pem")
	keyFile := filepath.Join(t.TempDir(), "key.pem")
	for name, block := range map[string]*pem.Block{file: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	transport, err = credentials.NewServerTLSFromFile(file, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	return file, transport
}

func TestTLS(t *testing.T) {
	file, transport := certificate(t)
	another, _ := certificate(t)
	srv := qdranttest.Start(t, qdranttest.Config{TLS: transport})
	for name, c := range map[string]struct {
		cfg  qdrant.Config
		want error
	}{
		"trusted":        {qdrant.Config{Addr: "https://" + srv.Addr(), TLS: qdrant.TLS{CAFile: file}}, core.ErrNotFound}, // of the collection
		"enabled":        {qdrant.Config{Addr: srv.Addr(), TLS: qdrant.TLS{Enabled: true, CAFile: file}}, core.ErrNotFound},
		"other name":     {qdrant.Config{Addr: srv.Addr(), TLS: qdrant.TLS{Enabled: true, CAFile: file, ServerName: "qdrant.test"}}, core.ErrNotFound},
		"wrong name":     {qdrant.Config{Addr: srv.Addr(), TLS: qdrant.TLS{Enabled: true, CAFile: file, ServerName: "elsewhere"}}, core.ErrUnavailable},
		"not trusted":    {qdrant.Config{Addr: "https://" + srv.Addr(), TLS: qdrant.TLS{CAFile: another}}, core.ErrUnavailable},
		"without TLS":    {qdrant.Config{Addr: srv.Addr()}, core.ErrUnavailable},
		"no such file":   {qdrant.Config{Addr: srv.Addr(), TLS: qdrant.TLS{Enabled: true, CAFile: file + "x"}}, core.ErrInvalid},
		"no certificate": {qdrant.Config{Addr: srv.Addr(), TLS: qdrant.TLS{Enabled: true, CertFile: "config_test.go", KeyFile: "config_test.go"}}, core.ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			c.cfg.Collection = "docs"
			s, err := qdrant.New(c.cfg)
			if err == nil {
				defer s.Close()
				_, err = s.Search(t.Context(), ask)
			}
			if !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
		})
	}
}

func TestEncodePayload(t *testing.T) {
	type own struct {
		Name string `json:"name"`
	}
	for _, c := range []struct {
		value any
		want  string // as protobuf prints it; empty is an error
	}{
		{uint64(1 << 62), "integer_value:4611686018427387904"},
		{uint64(1 << 63), ""},
		{int32(-3), "integer_value:-3"},
		{float32(0.5), "double_value:0.5"},
		{[]string{"a"}, `list_value:{values:{string_value:"a"}}`},
		{own{"x"}, `struct_value:{fields:{key:"name" value:{string_value:"x"}}}`},
		{make(chan int), ""},
		{[]any{map[string]any{"deep": make(chan int)}}, ""},
	} {
		got, err := qdrant.EncodeValue(c.value)
		if c.want == "" {
			if !errors.Is(err, core.ErrInvalid) {
				t.Errorf("%v: %v, error %v; want ErrInvalid", c.value, got, err)
			}
			continue
		}
		if text := strings.ReplaceAll(got.String(), "  ", " "); err != nil || text != c.want {
			t.Errorf("%v: %s (error %v), want %s", c.value, text, err, c.want)
		}
	}
}
