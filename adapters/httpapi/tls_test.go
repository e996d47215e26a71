package httpapi_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/georag/georag/adapters/flat"
	"github.com/georag/georag/adapters/httpapi"
	"github.com/georag/georag/core"
)

// authority signs certificates for the tests.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority of the tests"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return authority{cert, key}
}

func (a authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

// issue returns a certificate for 127.0.0.1 with the given serial number, and its key, both PEM.
func (a authority) issue(t *testing.T, serial int64, until time.Time) (cert, key []byte) {
	t.Helper()
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: until, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &own.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalECPrivateKey(own)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: encoded})
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestTLSWithReloadAndClientCertificates(t *testing.T) {
	ours, theirs := newAuthority(t), newAuthority(t)
	dir := t.TempDir()
	files := httpapi.TLSConfig{
		CertFile: filepath.Join(dir, "cert.pem"), KeyFile: filepath.Join(dir, "key.pem"), ClientCAFile: filepath.Join(dir, "ca.pem"), Reload: time.Millisecond,
	}
	later := time.Now().Add(time.Hour)
	rotate := func(serial int64) {
		cert, key := ours.issue(t, serial, later)
		write(t, files.CertFile, cert)
		write(t, files.KeyFile, key)
		time.Sleep(5 * time.Millisecond)
	}
	rotate(7)
	write(t, files.ClientCAFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ours.cert.Raw}))
	s := start(t, httpapi.Config{TLS: files}, nil)

	// ask returns the serial number of the server's certificate and the protocol; 0 where the handshake failed.
	ask := func(client *tls.Certificate) (int64, string) {
		config := &tls.Config{RootCAs: ours.pool()}
		if client != nil {
			config.Certificates = []tls.Certificate{*client}
		}
		transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true, DisableKeepAlives: true}
		defer transport.CloseIdleConnections()
		answer, err := (&http.Client{Transport: transport}).Get(s.url + "/healthz")
		if err != nil {
			return 0, ""
		}
		answer.Body.Close()
		return answer.TLS.PeerCertificates[0].SerialNumber.Int64(), answer.Proto
	}
	certificate := func(from authority, until time.Time) *tls.Certificate {
		cert, key := from.issue(t, 99, until)
		pair, err := tls.X509KeyPair(cert, key)
		if err != nil {
			t.Fatal(err)
		}
		return &pair
	}
	good := certificate(ours, later)
	for name, c := range map[string]struct {
		client *tls.Certificate
		serial int64
	}{
		"good": {good, 7}, "none": {nil, 0}, "of another authority": {certificate(theirs, later), 0}, "expired": {certificate(ours, time.Now().Add(-time.Hour)), 0},
	} {
		if serial, protocol := ask(c.client); serial != c.serial || serial != 0 && protocol != "HTTP/2.0" {
			t.Errorf("client certificate %s: serial %d over %q, want %d", name, serial, protocol, c.serial)
		}
	}
	rotate(8)
	if serial, _ := ask(good); serial != 8 {
		t.Errorf("after the certificate was replaced: serial %d", serial)
	}
	write(t, files.KeyFile, []byte("not a key"))
	time.Sleep(5 * time.Millisecond)
	if serial, _ := ask(good); serial != 8 {
		t.Errorf("after the key was broken: serial %d", serial)
	}
	write(t, files.ClientCAFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: theirs.cert.Raw}))
	rotate(9)
	if serial, _ := ask(good); serial != 0 {
		t.Errorf("a client of the former authority was let in")
	}
	if serial, _ := ask(certificate(theirs, later)); serial != 9 {
		t.Errorf("a client of the new authority was not let in: %d", serial)
	}
}

func TestTLSFilesAreCheckedAtTheStart(t *testing.T) {
	stages := map[string]*core.Stage{"demo": demoStage(t, flat.Config{})}
	for name, c := range map[string]httpapi.TLSConfig{
		"no key": {CertFile: "c"}, "no certificate": {KeyFile: "k"}, "authority alone": {ClientCAFile: "a"}, "missing files": {CertFile: "/nonexistent/c", KeyFile: "/nonexistent/k"},
	} {
		if _, err := httpapi.New(httpapi.Config{TLS: c}, httpapi.Deps{Stages: stages}); err == nil || !strings.Contains(err.Error(), "tls") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
