package limit

import (
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// maxWindow is how much the decoder keeps of what it wrote, in bytes; our encoders use 8 MiB at most.
const maxWindow = 32 << 20

// Expansion bounds how much a compressed file expands to, so that a malicious one cannot fill the memory.
type Expansion struct {
	// Most is the limit, in bytes.
	Most int64
	// Free is what any file may expand to, in bytes; beyond that it is Ratio times what was read of it.
	Free, Ratio int64
}

// Unpacked returns what a stream compressed with zstd expands to; reading more than it may is an ExceededError. The
// function releases the decoder.
func (e Expansion) Unpacked(packed io.Reader) (io.Reader, func(), error) {
	u := &unpacking{packed: packed, most: e}
	decoder, err := zstd.NewReader(readerFunc(u.in), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, nil, err
	}
	u.unpacked = decoder
	return readerFunc(u.out), decoder.Close, nil
}

// unpacking counts what is read and what that expands to.
type unpacking struct {
	packed, unpacked   io.Reader
	packedN, unpackedN int64
	most               Expansion
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(into []byte) (int, error) { return f(into) }

func (u *unpacking) in(into []byte) (int, error) {
	n, err := u.packed.Read(into)
	u.packedN += int64(n)
	return n, err
}

func (u *unpacking) out(into []byte) (int, error) {
	n, err := u.unpacked.Read(into)
	u.unpackedN += int64(n)
	if most := min(u.most.Most, u.most.Free+u.most.Ratio*u.packedN); u.unpackedN > most {
		return 0, fmt.Errorf("it expands to %w", &ExceededError{Most: most})
	}
	return n, err
}
