package fleet

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// authority signs certificates.
type authority struct {
	*testing.T
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	path string // of its certificate
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	a := authority{T: t, path: filepath.Join(t.TempDir(), "ca.pem")}
	self := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "the test"}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	var der []byte
	a.key, der = a.sign(self, self, nil)
	var err error
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.write(a.path, "CERTIFICATE", der)
	return a
}

func (a authority) sign(c, by *x509.Certificate, key *ecdsa.PrivateKey) (*ecdsa.PrivateKey, []byte) {
	a.Helper()
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.Fatal(err)
	}
	if key == nil {
		key = own
	}
	der, err := x509.CreateCertificate(rand.Reader, c, by, &own.PublicKey, key)
	if err != nil {
		a.Fatal(err)
	}
	return own, der
}

func (a authority) write(path, kind string, der []byte) {
	a.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		a.Fatal(err)
	}
}

// server writes the certificate and the key of a server on this machine into a folder.
func (a authority) server(dir string) (cert, key string) {
	a.Helper()
	cert, key = filepath.Join(dir, "fleet.pem"), filepath.Join(dir, "fleet.key")
	own, der := a.sign(&x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "fleet"},
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}, a.cert, a.key)
	a.write(cert, "CERTIFICATE", der)
	secret, err := x509.MarshalECPrivateKey(own)
	if err != nil {
		a.Fatal(err)
	}
	a.write(key, "EC PRIVATE KEY", secret)
	return cert, key
}

// realm is an operator with one account, as nsc makes it.
type realm struct {
	*testing.T
	account nkeys.KeyPair
	dir     string
}

func (r realm) creds(name string, may *server.Permissions) string {
	r.Helper()
	key, err := nkeys.CreateUser()
	if err != nil {
		r.Fatal(err)
	}
	public, _ := key.PublicKey()
	claims := jwt.NewUserClaims(public)
	claims.Name = name
	if may != nil {
		claims.Pub.Allow, claims.Sub.Allow = may.Publish.Allow, may.Subscribe.Allow
	}
	token, err := claims.Encode(r.account)
	if err != nil {
		r.Fatal(err)
	}
	seed, _ := key.Seed()
	text, err := jwt.FormatUserConfig(token, seed)
	path := filepath.Join(r.dir, name+".creds")
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		r.Fatal(err)
	}
	return path
}

// newRealm starts a server that knows users by their credentials only.
func newRealm(t *testing.T) (realm, string) {
	t.Helper()
	operator, err := nkeys.CreateOperator()
	if err != nil {
		t.Fatal(err)
	}
	o := &server.Options{Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir()}
	resolver := &server.MemAccResolver{}
	account := func(name string, storage int64) nkeys.KeyPair {
		key, err := nkeys.CreateAccount()
		if err != nil {
			t.Fatal(err)
		}
		public, _ := key.PublicKey()
		claims := jwt.NewAccountClaims(public)
		claims.Name = name
		claims.Limits.JetStreamLimits = jwt.JetStreamLimits{DiskStorage: storage, MemoryStorage: storage}
		token, err := claims.Encode(operator)
		if err == nil {
			err = resolver.Store(public, token)
		}
		if err != nil {
			t.Fatal(err)
		}
		if storage == 0 {
			o.SystemAccount = public
		}
		return key
	}
	account("system", 0)
	r := realm{t, account("ralph", -1), t.TempDir()}
	public, _ := operator.PublicKey()
	claims := jwt.NewOperatorClaims(public)
	claims.SystemAccount = o.SystemAccount
	token, err := claims.Encode(operator)
	if err != nil {
		t.Fatal(err)
	}
	if claims, err = jwt.DecodeOperatorClaims(token); err != nil {
		t.Fatal(err)
	}
	o.TrustedOperators, o.AccountResolver = []*jwt.OperatorClaims{claims}, resolver
	return r, "nats://" + launch(t, o)
}
