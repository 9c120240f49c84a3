package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"ralph/state"
)

const (
	viewers      = 50
	viewersBound = 0.05 // of a core
	watching     = 10 * time.Second
	eventsEvery  = 200 * time.Millisecond
)

// viewers measures the dashboard while 50 pages follow one run that writes five events a second.
func (b *bencher) viewers() error {
	home := filepath.Join(b.dir, "viewers")
	project := filepath.Join(home, "project")
	record := filepath.Join(home, ".local", "state", "ralph", "runs")
	for _, dir := range []string{project, record} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	run := fmt.Appendf(nil, `{"project":%q}`, project)
	if err := os.WriteFile(filepath.Join(record, "1.json"), run, 0o600); err != nil {
		return err
	}
	w, _, err := state.Acquire(filepath.Join(project, state.DirName),
		state.Owner{PID: os.Getpid(), RunID: "bench", StartedAt: time.Now()})
	if err != nil {
		return err
	}
	defer w.Release()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	if err := talk(ctx, w); err != nil {
		return err
	}
	hub := exec.CommandContext(ctx, filepath.Join(b.bin, "ralph-hub"), "serve", "--listen", "127.0.0.1:0")
	hub.Env = []string{"HOME=" + home, "PATH=" + b.bin + ":" + os.Getenv("PATH")}
	out, err := hub.StdoutPipe()
	if err == nil {
		err = hub.Start()
	}
	if err != nil {
		return err
	}
	defer func() { stop(); _ = hub.Wait() }() // it was killed
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return fmt.Errorf("ralph-hub: %w", err)
	}
	got, err := follow(ctx, strings.TrimSpace(strings.TrimPrefix(line, "the dashboard is at ")))
	if err != nil {
		return err
	}
	time.Sleep(2 * time.Second) // sleep: until all have the page, and the first look is over
	before := worked(hub.Process.Pid)
	sent := got.Load()
	time.Sleep(watching) // sleep: what is measured
	part := float64(worked(hub.Process.Pid)-before) / float64(watching)
	updates := float64(got.Load()-sent) / viewers / watching.Seconds()
	b.add(figure{fmt.Sprintf("dashboard with %d viewers of a run", viewers), fmt.Sprintf("%.1f %% of a core", 100*part),
		fmt.Sprintf("%.1f updates a second each", updates), fmt.Sprintf("at most %.0f %%", 100*viewersBound),
		part > viewersBound})
	return nil
}

// talk writes what a run writes, until ctx ends.
func talk(ctx context.Context, w *state.Writer) error {
	status := state.Status{RunID: "bench", Status: state.StatusRunning, StartedAt: time.Now(), Phase: state.PhaseAgent,
		IterationStartedAt: time.Now(), Task: state.TaskStatus{ID: "T1", Title: "a task", Total: 10}, PID: os.Getpid()}
	if err := w.SaveStatus(status); err != nil {
		return err
	}
	f, err := os.OpenFile(w.EventsPath(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	go func() {
		defer f.Close()
		ticker := time.NewTicker(eventsEvery)
		defer ticker.Stop()
		for n := int64(1); ctx.Err() == nil; n++ {
			e := state.NewEvent(state.Origin{Run: "bench", Iteration: 1, Task: "T1"}, time.Now(),
				state.Text{Text: fmt.Sprintf("line %d of what an agent says", n)})
			e.Seq = n
			line, _ := json.Marshal(e) // an event always has JSON
			_, _ = f.Write(append(line, '\n'))
			if n%5 == 0 {
				status.Timestamp = time.Now()
				_ = w.SaveStatus(status)
			}
			<-ticker.C
		}
	}()
	return nil
}

// follow opens the streams and counts their events.
func follow(ctx context.Context, base string) (*atomic.Int64, error) {
	client := &http.Client{Transport: &http.Transport{}}
	var got atomic.Int64
	page, err := get(ctx, client, base)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(page)
	_ = page.Close()
	_, rest, found := strings.Cut(string(data), `<h2><a href="/`)
	path, _, _ := strings.Cut(rest, `"`)
	if err != nil || !found {
		return nil, errors.Join(err, errors.New("the dashboard does not list the run"))
	}
	for range viewers {
		body, err := get(ctx, client, base+path+"/events")
		if err != nil {
			return nil, err
		}
		go func() {
			defer body.Close()
			for lines := bufio.NewScanner(body); lines.Scan(); {
				if strings.HasPrefix(lines.Text(), "event:") {
					got.Add(1)
				}
			}
		}()
	}
	return &got, nil
}

func get(ctx context.Context, client *http.Client, url string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	return res.Body, nil
}
