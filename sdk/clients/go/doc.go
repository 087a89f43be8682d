// Package toolgate is the client for toolgate, the tool gateway for software agents.
//
// New makes a Client. Its Tools find, describe and run tools; Execute answers an Outcome, one of five types
// of which only Success has a result. What the server refuses, and what never reached it, is an *Error.
package toolgate

// Version is this package's, by semantic versioning.
const Version = "0.1.0"
