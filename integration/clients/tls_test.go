package clients

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	qd "github.com/qdrant/go-client/qdrant"
)

// certificate writes a certificate of 127.0.0.1, signed by itself, and its key.
func certificate(t *testing.T) (certFile, keyFile string, trusted *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	trusted = x509.NewCertPool()
	write := func(name, kind string, content []byte) string {
		file := filepath.Join(t.TempDir(), name)
		block := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content})
		trusted.AppendCertsFromPEM(block)
		if err := os.WriteFile(file, block, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	return write("tls.crt", "CERTIFICATE", signed), write("tls.key", "PRIVATE KEY", encoded), trusted
}

// TestTLS: both protocols are served with the server's certificate, and neither without TLS.
func TestTLS(t *testing.T) {
	u := startUpstream(t, "")
	certFile, keyFile, trusted := certificate(t)
	addr := freeAddr(t)
	s := serve(t, fmt.Sprintf(`
store: {qdrant: {addr: %q, collection: demo}}
server: {listen: LISTEN, timeouts: {drain: 0s}, tls: {cert_file: %q, key_file: %q}}
proxies: {qdrant: {url: %q, grpc_listen: %q}}
`, u.Addr(), certFile, keyFile, u.rest, addr))
	secure := &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: secure, ForceAttemptHTTP2: true}}
	answer, err := client.Get(strings.Replace(s.url, "http://", "https://", 1) + "/collections")
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal(answer, err)
	}
	_ = answer.Body.Close()
	for _, c := range []struct {
		secure bool
		works  bool
	}{{true, true}, {false, false}} {
		host, port := splitAddr(t, addr)
		grpc, err := qd.NewClient(&qd.Config{Host: host, Port: port, UseTLS: c.secure, TLSConfig: secure, SkipCompatibilityCheck: true})
		if err != nil {
			t.Fatal(err)
		}
		points, err := grpc.Query(asking(t.Context()), query(t, 5))
		if (err == nil) != c.works || c.works && len(points) != 5 {
			t.Errorf("gRPC, TLS %v: %d points, %v", c.secure, len(points), err)
		}
		_ = grpc.Close()
	}
}
