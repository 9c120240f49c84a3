# Workers of a fleet on Nomad. The token and what the agent logs in with are variables:
#
#     nomad var put nomad/jobs/ralph-worker token=TOKEN anthropic_api_key=KEY

variable "image" {
  type    = string
  default = "ralph-worker:latest"
}

variable "fleet_url" {
  type    = string
  default = "tls://nats.example.org:4222"
}

job "ralph-worker" {
  type = "service"

  group "workers" {
    count = 4

    restart {
      attempts = 10
      interval = "10m"
      delay    = "15s"
      mode     = "delay"
    }

    ephemeral_disk {
      size   = 20000
      sticky = true
    }

    task "worker" {
      driver = "docker"

      # The worker ends its agents itself; a turn that is cut off begins anew elsewhere.
      kill_timeout = "45s"

      config {
        image = var.image
      }

      env {
        RALPH_FLEET_URL   = var.fleet_url
        RALPH_FLEET_SLOTS = "1"
        XDG_CACHE_HOME    = "${NOMAD_ALLOC_DIR}/data"
      }

      template {
        destination = "secrets/worker.env"
        env         = true
        data        = <<-EOT
          {{ with nomadVar "nomad/jobs/ralph-worker" }}
          RALPH_FLEET_TOKEN={{ .token }}
          ANTHROPIC_API_KEY={{ .anthropic_api_key }}
          {{ end }}
        EOT
      }

      resources {
        cpu    = 1000
        memory = 4096
      }
    }
  }
}
