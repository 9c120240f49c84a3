package acp

import (
	"bufio"
	"bytes"
	"io"
	"sync"
	"time"
)

const (
	ahead   = 512         // updates that the library may hold at a time; it ends a connection at 1,024
	patient = time.Second // for the library to hand over an update; it may have dropped an invalid one
)

// paced passes on what an agent says, a line at a time, no faster than its updates are handed over.
type paced struct {
	from *bufio.Reader
	rest []byte

	mu   sync.Mutex
	open int           // updates that were passed on and not handed over
	less chan struct{} // has a value after one was handed over
}

func newPaced(r io.Reader) *paced {
	return &paced{from: bufio.NewReaderSize(r, 64<<10), less: make(chan struct{}, 1)}
}

// handed counts an update that the library has handed over.
func (p *paced) handed() {
	p.mu.Lock()
	p.open = max(0, p.open-1)
	p.mu.Unlock()
	select {
	case p.less <- struct{}{}:
	default:
	}
}

func (p *paced) full() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open >= ahead
}

func (p *paced) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		for limit := time.After(patient); p.full(); {
			select {
			case <-p.less:
				continue
			case <-limit:
			}
			break
		}
		line, err := p.from.ReadSlice('\n')
		if len(line) == 0 {
			return 0, err
		}
		if bytes.Contains(line, []byte(`"session/update"`)) {
			p.mu.Lock()
			p.open++
			p.mu.Unlock()
		}
		p.rest = line
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}
