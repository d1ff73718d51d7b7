// Package clientlib is the model's side of the client library in libfdb_c: it serves the
// transactions of programs that link it.
//
// Each connection is one transaction. A request and a reply are netstrings ("5:hello,") of
// netstrings: a request has the name of its operation and its arguments, a reply an error
// code and its results. Numbers are decimal.
package clientlib
