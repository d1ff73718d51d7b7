package fdb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Type codes of the tuple encoding that values in the database use.
const (
	tupleNil    = 0x00
	tupleBytes  = 0x01
	tupleString = 0x02
	// tupleZero is the code of integer 0; n more or less is an integer of n bytes.
	tupleZero = 0x14
	// tupleIntegerBytes is how many bytes the widest integer has.
	tupleIntegerBytes = 8
)

var errTupleCut = errors.New("tuple ends in the middle of an element")

// Tuple is a decoded tuple. Its elements are nil, []byte, string or int64.
type Tuple []any

// Pack encodes the tuple as FoundationDB's tuple layer does. It panics on an
// element of any other type than Tuple lists.
func (t Tuple) Pack() []byte {
	var out []byte
	for _, element := range t {
		switch e := element.(type) {
		case nil:
			out = append(out, tupleNil)
		case []byte:
			out = appendTupleBytes(append(out, tupleBytes), e)
		case string:
			out = appendTupleBytes(append(out, tupleString), []byte(e))
		case int64:
			out = appendTupleInteger(out, e)
		default:
			panic(fmt.Sprintf("packing tuple: element of type %T", element))
		}
	}
	return out
}

func appendTupleBytes(out, content []byte) []byte {
	for _, b := range content {
		out = append(out, b)
		if b == 0 {
			out = append(out, 0xff)
		}
	}
	return append(out, 0)
}

func appendTupleInteger(out []byte, n int64) []byte {
	magnitude := magnitudeOf(n)
	size := 0
	for rest := magnitude; rest > 0; rest >>= 8 {
		size++
	}
	code := tupleZero + size
	if n < 0 {
		code = tupleZero - size
		magnitude = ^magnitude
	}
	var wide [tupleIntegerBytes]byte
	binary.BigEndian.PutUint64(wide[:], magnitude)
	return append(append(out, byte(code)), wide[tupleIntegerBytes-size:]...)
}

// magnitudeOf returns |n|, even for the smallest integer.
func magnitudeOf(n int64) uint64 {
	if n < 0 {
		return uint64(-(n + 1)) + 1 // #nosec G115 -- -(n+1) is never negative
	}
	return uint64(n)
}

// UnpackTuple decodes all elements. On an error it returns those before it.
func UnpackTuple(packed []byte) (Tuple, error) {
	var t Tuple
	for len(packed) > 0 {
		element, rest, err := unpackElement(packed)
		if err != nil {
			return t, fmt.Errorf("unpack tuple element %d: %w", len(t), err)
		}
		t = append(t, element)
		packed = rest
	}
	return t, nil
}

func unpackElement(packed []byte) (element any, rest []byte, err error) {
	code, rest := packed[0], packed[1:]
	switch {
	case code == tupleNil:
		return nil, rest, nil
	case code == tupleBytes:
		return unpackBytes(rest)
	case code == tupleString:
		content, rest, err := unpackBytes(rest)
		return string(content), rest, err
	case code >= tupleZero-tupleIntegerBytes && code <= tupleZero+tupleIntegerBytes:
		return unpackInteger(int(code)-tupleZero, rest)
	default:
		return nil, nil, fmt.Errorf("unknown type code 0x%02x", code)
	}
}

func unpackBytes(packed []byte) (content, rest []byte, err error) {
	content = []byte{}
	for {
		zero := bytes.IndexByte(packed, 0)
		if zero < 0 {
			return nil, nil, errTupleCut
		}
		content = append(content, packed[:zero]...)
		packed = packed[zero+1:]
		if len(packed) == 0 || packed[0] != 0xff {
			return content, packed, nil
		}
		content = append(content, 0)
		packed = packed[1:]
	}
}

// unpackInteger decodes an integer of |size| bytes that is negative when size
// is.
func unpackInteger(size int, packed []byte) (element any, rest []byte, err error) {
	negative := size < 0
	if negative {
		size = -size
	}
	if len(packed) < size {
		return nil, nil, errTupleCut
	}
	var wide [tupleIntegerBytes]byte
	copy(wide[tupleIntegerBytes-size:], packed)
	magnitude := binary.BigEndian.Uint64(wide[:])
	var n int64
	if negative {
		n, err = negated(^magnitude & (math.MaxUint64 >> (8 * (tupleIntegerBytes - size))))
	} else {
		n, err = positive(magnitude)
	}
	return n, packed[size:], err
}

func positive(magnitude uint64) (int64, error) {
	if magnitude > math.MaxInt64 {
		return 0, fmt.Errorf("integer of magnitude %d does not fit in 64 bits with a sign", magnitude)
	}
	return int64(magnitude), nil
}

func negated(magnitude uint64) (int64, error) {
	if magnitude == math.MaxInt64+1 {
		return math.MinInt64, nil
	}
	n, err := positive(magnitude)
	return -n, err
}
