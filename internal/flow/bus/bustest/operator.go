package bustest

import (
	"fmt"
	"os"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
)

// Operator signs the credentials for its server: an account without limits on storage, and users of that account.
type Operator struct {
	t       testing.TB
	account nkeys.KeyPair
}

// StartOperated runs a server that accepts users signed by an operator. configuration is appended to its configuration file.
func StartOperated(t testing.TB, configuration string) (*Server, *Operator) {
	t.Helper()
	operator, operatorKey := identity(t, nkeys.CreateOperator)
	account, accountKey := identity(t, nkeys.CreateAccount)
	claims := jwt.NewAccountClaims(accountKey)
	claims.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: jwt.NoLimit, DiskStorage: jwt.NoLimit, Streams: jwt.NoLimit, Consumer: jwt.NoLimit}
	_, systemKey := identity(t, nkeys.CreateAccount) // JetStream needs a system account
	s := Start(t, fmt.Sprintf("operator: %s\nsystem_account: %s\nresolver: MEMORY\nresolver_preload: {%s: %s, %s: %s}\n%s",
		signed(t, jwt.NewOperatorClaims(operatorKey), operator), systemKey, systemKey, signed(t, jwt.NewAccountClaims(systemKey), operator),
		accountKey, signed(t, claims, operator), configuration))
	return s, &Operator{t, account}
}

// Credentials writes the credentials of a new user to path, after change has edited the claims.
func (o *Operator) Credentials(path string, change func(*jwt.UserClaims)) {
	o.t.Helper()
	user, key := identity(o.t, nkeys.CreateUser)
	claims := jwt.NewUserClaims(key)
	change(claims)
	seed, err := user.Seed()
	if err != nil {
		o.t.Fatal(err)
	}
	text, err := jwt.FormatUserConfig(signed(o.t, claims, o.account), seed)
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		o.t.Fatal(err)
	}
}

// identity makes a key and returns its public part.
func identity(t testing.TB, create func() (nkeys.KeyPair, error)) (pair nkeys.KeyPair, public string) {
	t.Helper()
	pair, err := create()
	if err == nil {
		public, err = pair.PublicKey()
	}
	if err != nil {
		t.Fatal(err)
	}
	return pair, public
}

// signed returns the JWT of c.
func signed(t testing.TB, c interface {
	Encode(nkeys.KeyPair) (string, error)
}, by nkeys.KeyPair) string {
	t.Helper()
	text, err := c.Encode(by)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
