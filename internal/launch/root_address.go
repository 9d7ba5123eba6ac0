package launch

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/weft-mpi/weft/internal/limits"
	"github.com/weft-mpi/weft/internal/strangers"
	"github.com/weft-mpi/weft/mpi/cause"
)

// rootAddress is where the ranks of a job of WEFT_ROOT meet, and how they know one
// another.
//
// With a secret that is a TCP port. A connection is TLS 1.3 with a certificate that
// nobody checks; then each side proves that it has the secret by an HMAC over what only
// the two ends of this TLS connection know, so that nobody can be in between. The job's
// key goes over it.
//
// Without a secret the ranks are on one host, and the port names an abstract Unix socket:
// the kernel says that the process at the other end is of the same user.
type rootAddress struct {
	text       string // WEFT_ROOT
	host, port string
	secret     []byte // nil: one host
}

func (a *rootAddress) String() string { return envRoot + "=" + a.text }

// minSecret is the least length of a secret, in bytes: what 16 random bytes in hex have.
const minSecret = 32

// rootFrom reads WEFT_ROOT and WEFT_SECRET_FILE.
func rootFrom(get lookup) (*rootAddress, error) {
	text, _ := get(envRoot)
	bad := func(err error, remedy string) error {
		return &cause.EnvError{Var: envRoot, Value: text, Err: err, Remedy: remedy}
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return nil, bad(err, "write the host of rank 0 and a port, as in node1:7077")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || host == "" {
		return nil, bad(errors.New("no host and port number"), "write the host of rank 0 and a port, as in node1:7077")
	}
	a := &rootAddress{text: text, host: host, port: port}
	name, ok := get(envSecret)
	if !ok || name == "" {
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return nil, bad(errors.New("there is no secret by which the ranks know one another"),
				"set "+envSecret+" to a file that all ranks can read, and others can't, made by: openssl rand -hex 32 (for ranks of one host: "+envRoot+"=localhost:"+port+")")
		}
		return a, nil
	}
	b, err := os.ReadFile(name)
	if err == nil {
		if b = bytes.TrimSpace(b); len(b) < minSecret {
			err = fmt.Errorf("a secret of %d bytes, the least is %d", len(b), minSecret)
		}
	}
	if err != nil {
		return nil, &cause.EnvError{Var: envSecret, Value: name, Err: err, Remedy: "make it by: openssl rand -hex 32"}
	}
	a.secret = b
	return a, nil
}

// socket is the name of the socket for ranks of one host.
func (a *rootAddress) socket() *net.UnixAddr {
	return &net.UnixAddr{Name: fmt.Sprintf("@weft-root-%d-%s", os.Geteuid(), a.port), Net: "unix"}
}

func (a *rootAddress) listen() (net.Listener, error) {
	if a.secret == nil {
		return strangers.Listen("unix", a.socket().Name)
	}
	host := ""
	if ip := net.ParseIP(a.host); a.host == "localhost" || ip != nil && ip.IsLoopback() {
		host = a.host
	}
	return net.Listen("tcp", net.JoinHostPort(host, a.port))
}

// dial connects to rank 0, which may listen late, or have no address yet.
func (a *rootAddress) dial(ctx context.Context, rank, size int) (net.Conn, error) {
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		conn, err := a.dialOnce(ctx, rank, size)
		if err == nil || errors.Is(err, errStranger) {
			return conn, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", ended(ctx), err)
		case <-time.After(wait):
		}
	}
}

func (a *rootAddress) dialOnce(ctx context.Context, rank, size int) (net.Conn, error) {
	if a.secret == nil {
		conn, err := net.DialUnix("unix", nil, a.socket())
		if err != nil {
			return nil, err
		}
		if _, ok := ours(conn); !ok {
			err = fmt.Errorf("%w: the name %s is taken by a process of another user: name another port, or set %s, with which nobody else is taken for rank 0", errStranger, a.socket().Name, envSecret)
		} else {
			_, err = conn.Write(appendNumbers(nil, rank, size))
		}
		if err != nil {
			conn.Close()
			return nil, err
		}
		return conn, nil
	}
	d := net.Dialer{Timeout: doorstepTime}
	raw, err := d.DialContext(ctx, "tcp", net.JoinHostPort(a.host, a.port))
	if err != nil {
		return nil, limits.Named(err)
	}
	raw.SetDeadline(time.Now().Add(doorstepTime))
	conn := tls.Client(raw, &tls.Config{MinVersion: tls.VersionTLS13, InsecureSkipVerify: true}) // the proofs say more
	err = func() error {
		if err := conn.HandshakeContext(ctx); err != nil {
			return err
		}
		mine, its, err := a.proofs(conn, rank, size)
		if err != nil {
			return err
		}
		if _, err := conn.Write(append(appendNumbers(nil, rank, size), mine...)); err != nil {
			return err
		}
		got := make([]byte, len(its))
		if _, err := io.ReadFull(conn, got); err != nil {
			return fmt.Errorf("%w: it ends the connection: is %s the same file there, and the job of the same size? (%w)", errStranger, envSecret, err)
		}
		if !hmac.Equal(got, its) {
			return fmt.Errorf("%w: it does not know the secret", errStranger)
		}
		return nil
	}()
	if err != nil {
		raw.Close()
		return nil, err
	}
	conn.SetDeadline(time.Time{})
	return conn, nil
}

// errStranger says that the process at the other end is not of the job.
var errStranger = errors.New("what listens there is not rank 0 of this job")

// admit returns how rank 0 finds out which rank of size has connected.
func (a *rootAddress) admit(size int) func(net.Conn) (net.Conn, int, error) {
	if a.secret == nil {
		return func(conn net.Conn) (net.Conn, int, error) {
			if _, ok := ours(conn.(*net.UnixConn)); !ok {
				return nil, 0, errStranger
			}
			rank, err := readNumbers(conn, size)
			return conn, rank, err
		}
	}
	config, cerr := a.config()
	return func(raw net.Conn) (net.Conn, int, error) {
		if cerr != nil {
			return nil, 0, cerr
		}
		conn := tls.Server(raw, config)
		if err := conn.Handshake(); err != nil {
			return nil, 0, err
		}
		rank, err := readNumbers(conn, size)
		if err != nil {
			return nil, 0, err
		}
		its, mine, err := a.proofs(conn, rank, size)
		if err != nil {
			return nil, 0, err
		}
		got := make([]byte, len(its))
		if _, err := io.ReadFull(conn, got); err != nil {
			return nil, 0, err
		}
		if !hmac.Equal(got, its) {
			return nil, 0, errStranger
		}
		_, err = conn.Write(mine)
		return conn, rank, err
	}
}

// config has a certificate for this process, which TLS wants.
func (a *rootAddress) config() (*tls.Config, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().AddDate(10, 0, 0)}
	cert, err := x509.CreateCertificate(rand.Reader, about, about, public, private)
	if err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS13, SessionTicketsDisabled: true,
		Certificates: []tls.Certificate{{Certificate: [][]byte{cert}, PrivateKey: private}}}, nil
}

// proofs are those of a rank and of rank 0, over a connection that both are at.
func (a *rootAddress) proofs(conn *tls.Conn, rank, size int) (theRank, rank0 []byte, err error) {
	state := conn.ConnectionState()
	bound, err := state.ExportKeyingMaterial("EXPORTER-weft-root", nil, 32)
	if err != nil {
		return nil, nil, err
	}
	proof := func(role string) []byte {
		m := hmac.New(sha256.New, a.secret)
		m.Write(appendNumbers([]byte(role), rank, size))
		m.Write(bound)
		return m.Sum(nil)
	}
	return proof("rank"), proof("root"), nil
}

func appendNumbers(b []byte, rank, size int) []byte {
	b = binary.LittleEndian.AppendUint32(append(b, frameMagic0, frameMagic1, frameVersion), uint32(rank))
	return binary.LittleEndian.AppendUint32(b, uint32(size))
}

// readNumbers reads what appendNumbers writes, and returns the rank.
func readNumbers(r io.Reader, size int) (int, error) {
	b := make([]byte, 11)
	if _, err := io.ReadFull(r, b); err != nil {
		return 0, err
	}
	rank := binary.LittleEndian.Uint32(b[3:])
	if !bytes.Equal(b, appendNumbers(nil, int(rank), size)) || rank == 0 || uint64(rank) >= uint64(size) {
		return 0, protocolError("rank %d of %d, of version %d, in a job of %d of version %d", rank, binary.LittleEndian.Uint32(b[7:]), b[2], size, frameVersion)
	}
	return int(rank), nil
}

// rootNumbers are the variables that may hold rank and size where the ranks meet at
// WEFT_ROOT.
var rootNumbers = []sign{
	{envSize, envRank, ""},
	{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", ""},
	{"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", ""},
	{"SLURM_NTASKS", "SLURM_PROCID", ""},
	{"PMI_SIZE", "PMI_RANK", ""},
	{"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK", ""},
	{"JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_RANK", ""},
	{"FLUX_JOB_SIZE", "FLUX_TASK_RANK", ""},
}

// discoverRoot meets the other ranks at WEFT_ROOT.
func discoverRoot(ctx context.Context, get lookup) (*Job, error) {
	at, err := rootFrom(get)
	if err != nil {
		return nil, err
	}
	names := rootNumbers[0]
	for _, s := range rootNumbers {
		_, has := get(s.rank)
		if _, sized := get(s.size); has && sized {
			names = s
			break
		}
	}
	rank, err := number(get, names.rank, 0)
	if err != nil {
		return nil, err
	}
	size, err := number(get, names.size, 1)
	if err == nil && (size > MaxRanks || rank >= size) {
		err = &cause.EnvError{Var: names.size, Value: strconv.Itoa(size), Err: fmt.Errorf("rank %d of so many, and a job has at most %d ranks", rank, MaxRanks), Remedy: anyRemedy}
	}
	if err != nil {
		return nil, err
	}
	consume(envRoot, envSecret, envRank, envSize)
	j, err := joinRoot(ctx, at, rank, size)
	if lost, ok := errors.AsType[*cause.LostError](err); ok {
		return nil, lost
	}
	return j, err
}
