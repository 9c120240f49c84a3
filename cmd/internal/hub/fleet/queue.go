package fleet

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	stream  = "RALPH_OFFERS"
	copies  = 3 // of the queue, in a cluster
	oneTry  = 5 * time.Second
	again   = time.Second // between tries
	deliver = 6           // how often an offer is delivered; then the run makes it again
	kept    = 24 * time.Hour
)

// backoff is how long an offer stays with a silent worker, by how often it was delivered.
func backoff() []time.Duration {
	return []time.Duration{ackWait, ackWait, 2 * ackWait, 4 * ackWait, 8 * ackWait}
}

// offer is a turn that wants a worker.
type offer struct {
	V  int    `json:"v"`
	ID string `json:"id"`
}

// consumer is the name under which all workers take offers.
const consumer = "any"

func offerOf(id string) string { return fmt.Sprintf("ralph.offer.%d.%s.%s", version, consumer, id) }

// queue finds or makes the queue of offers. In a cluster, the queue has copies.
func queue(ctx context.Context, conn *nats.Conn, js jetstream.JetStream) error {
	err := persist(ctx, func(ctx context.Context) error {
		_, err := js.Stream(ctx, stream)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			c := jetstream.StreamConfig{Name: stream, Subjects: []string{"ralph.offer.>"},
				Retention: jetstream.WorkQueuePolicy, Storage: jetstream.FileStorage, MaxAge: kept, MaxMsgSize: 4096,
				MaxMsgsPerSubject: 1, Replicas: 1}
			if conn.ConnectedClusterName() != "" {
				c.Replicas = copies
			}
			_, err = js.CreateStream(ctx, c)
		}
		if err != nil {
			return err
		}
		if _, err = js.Consumer(ctx, stream, consumer); !errors.Is(err, jetstream.ErrConsumerNotFound) {
			return err
		}
		_, err = js.CreateOrUpdateConsumer(ctx, stream, jetstream.ConsumerConfig{Durable: consumer,
			AckPolicy: jetstream.AckExplicitPolicy, MaxDeliver: deliver, BackOff: backoff(), MaxAckPending: 10000,
			FilterSubject: offerOf(">")})
		return err
	})
	if err != nil {
		return fmt.Errorf("open the queue of the fleet: %w", err)
	}
	return nil
}

// persist retries f while the server, or a node of a cluster, is gone.
func persist(ctx context.Context, f func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, gone)
	defer cancel()
	for {
		try, done := context.WithTimeout(ctx, oneTry)
		err := f(try)
		done()
		refused := (*jetstream.APIError)(nil) // 503: of a cluster without a leader, for now
		if err == nil || errors.As(err, &refused) && refused.Code != http.StatusServiceUnavailable {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(again):
		}
	}
}
