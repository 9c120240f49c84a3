{
  description = "ralph runs an AI coding agent again and again until a plan is proven done";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable"; # it needs the Go that go.mod names

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      each = f: nixpkgs.lib.genAttrs systems (system: f nixpkgs.legacyPackages.${system});
    in
    {
      packages = each (pkgs: {
        default = pkgs.buildGoModule {
          pname = "ralph";
          version = self.shortRev or "dirty";
          src = self;
          vendorHash = "sha256-MOpSqdgP4FJBLG2NNoiyFAKlRoPOPhWSYAhnR9bKADo="; # of the modules; make generate
          subPackages = [ "cmd/ralph" "cmd/ralph-hub" ];
          env.CGO_ENABLED = 0;
          ldflags = [ "-s" "-w" "-X ralph/cmd/internal/cli.Version=${self.shortRev or "dirty"}" ];
          doCheck = false; # the tests need terminals, git and tmux: make check
          nativeBuildInputs = [ pkgs.installShellFiles ];
          postInstall = ''
            ln -s ralph $out/bin/ralph-status
            ln -s ralph $out/bin/ralph-monitor
            GOOS= GOARCH= go run ./cmd/internal/shipped shipped ${self.shortRev or "dirty"}
            installManPage shipped/man/*.1
            installShellCompletion --bash --name ralph shipped/completions/ralph.bash
            installShellCompletion --zsh shipped/completions/_ralph
            installShellCompletion --fish shipped/completions/ralph.fish
          '';
          meta.mainProgram = "ralph";
        };
      });
    };
}
