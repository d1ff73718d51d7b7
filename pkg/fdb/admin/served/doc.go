// Package served reads the certificates that processes serve. A connection from a pod of the cluster sends the first
// message of a TLS handshake, to which a server responds with its certificate before it requires one of the
// client: neither a key nor a TLS program is needed in the pod, and the handshake is never completed.
package served
