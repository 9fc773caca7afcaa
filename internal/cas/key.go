package cas

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Key names an artifact: 32 hexadecimal digits of a SHA-256.
type Key string

const keyDigits = 32

// valid says whether k can be the name of an artifact, and so of a folder.
func (k Key) valid() bool {
	return len(k) == keyDigits && strings.Trim(string(k), "0123456789abcdef") == ""
}

// Stage says what an artifact is made by and from. Its key is a hash over all of it.
type Stage struct {
	Name    string // "chunk", "embed", ...
	Version int    // changes when the same inputs would give another output
	Params  string // canonical text of the parameters
	Inputs  []Key
}

// Key is the name of the artifact that the stage makes.
func (s Stage) Key() Key {
	raw, err := json.Marshal(s)
	if err != nil {
		panic("cas: a stage of strings and numbers always has a text form: " + err.Error())
	}
	if !utf8.ValidString(s.Name + s.Params) { // JSON would replace what tells such texts apart: file names may be any bytes
		raw = fmt.Appendf(raw, "\x00%q\x00%q", s.Name, s.Params)
	}
	return Hash(string(raw))
}

// Describe is the stage on one line of at most about 80 characters, for people.
func (s Stage) Describe() string {
	const most = 70
	params := strings.Join(strings.Fields(s.Params), " ")
	if utf8.RuneCountInString(params) > most {
		params = string([]rune(params)[:most-1]) + "…"
	}
	return strings.TrimSpace(s.Name + " " + params)
}

// Hash is the key of a text, for inputs that are not artifacts.
func Hash(text string) Key {
	sum := sha256.Sum256([]byte(text))
	return Key(hex.EncodeToString(sum[:keyDigits/2]))
}
