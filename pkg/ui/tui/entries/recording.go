package entries

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
)

// window is how far back a compressed recording repeats what it had before, in bytes: several frames of
// 300 process groups, so that a frame costs what changed since the one before.
const window = 4 << 20

// NewCompressor returns what compresses a recording with zstd. After Flush all that was written to it can be read, also
// without its end.
func NewCompressor(w io.Writer) (*zstd.Encoder, error) {
	return zstd.NewWriter(w, zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
}

// framesPerPart is how many frames a part of a recording has. A frame costs memory for what changed since the one before it in
// its part, and to show it again those before it are decompressed.
const framesPerPart = 16

// maxPartBytes is the size from which a part takes no further frame.
const maxPartBytes = 2 << 20

// Recording is the frames of a compressed recording in memory, in parts that are read, and forgotten, on their own. The zero value is empty.
type Recording struct {
	compressor *zstd.Encoder
	open       *part
	line       bytes.Buffer
}

// part is some frames of a recording. What it has does not change; frames are added at its end.
type part struct {
	packed []byte
	frames int
	// length is that of its lines, in bytes.
	length int64
}

// Write implements io.Writer.
func (p *part) Write(packed []byte) (int, error) {
	p.packed = append(p.packed, packed...)
	return len(packed), nil
}

// Keep adds a frame.
func (r *Recording) Keep(f *frame.Frame) KeptFrame {
	r.line.Reset()
	if json.NewEncoder(&r.line).Encode(f) != nil || r.begin() != nil || r.write() != nil {
		return KeptFrame{whole: f}
	}
	k := KeptFrame{in: r.open, at: r.open.length, length: int64(r.line.Len())}
	r.open.length += k.length
	r.open.frames++
	return k
}

// begin begins a part if none is open, or the open one is full.
func (r *Recording) begin() (err error) {
	switch {
	case r.open == nil:
		r.open = &part{}
		r.compressor, err = NewCompressor(r.open)
	case r.open.frames == framesPerPart || len(r.open.packed) >= maxPartBytes:
		r.open.packed = bytes.Clone(r.open.packed)
		r.open = &part{}
		r.compressor.Reset(r.open)
	}
	return err
}

func (r *Recording) write() error {
	if _, err := r.compressor.Write(r.line.Bytes()); err != nil {
		return err
	}
	return r.compressor.Flush()
}

// KeptFrame is a frame of a recording. The zero value is none.
type KeptFrame struct {
	in         *part
	at, length int64
	// whole is a frame that could not be written.
	whole *frame.Frame
}

// Frame reads the frame; nil for none.
func (k KeptFrame) Frame() *frame.Frame {
	if k.in == nil {
		return k.whole
	}
	unpacked, err := zstd.NewReader(bytes.NewReader(k.in.packed), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil
	}
	defer unpacked.Close()
	f := new(frame.Frame)
	if _, err := io.CopyN(io.Discard, unpacked, k.at); err != nil || json.NewDecoder(io.LimitReader(unpacked, k.length)).Decode(f) != nil {
		return nil
	}
	return f
}

// BytesBeside returns the memory that a frame takes beside another one: those of its part, unless that has both.
func (k KeptFrame) BytesBeside(other KeptFrame) int {
	if k.in == nil || k.in == other.in {
		return 0
	}
	return len(k.in.packed)
}
