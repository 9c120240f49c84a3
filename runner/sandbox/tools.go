package sandbox

// tool is a row of the table of toolchains: what contained programs see of one in the home folder. All names are
// relative to it.
type tool struct {
	reads  []string // folders and files that they may read and run
	caches []string // those that they may write, too: nothing there is started by a shell or the user's other programs
	// settings are files that are seen as long as they have no credentials.
	settings []string
	secrets  []string // credentials below reads and caches, which stay hidden
	// moved are variables that move a name elsewhere, as VARIABLE=NAME. Without a name, they say where a folder is.
	moved []string
}

// tools returns the table. A tool whose folder is in PATH needs no row: see programFolders.
func tools() []tool {
	return []tool{
		{moved: []string{"XDG_CONFIG_HOME=.config", "XDG_CACHE_HOME=.cache", "XDG_DATA_HOME=.local/share",
			"XDG_STATE_HOME=.local/state"}},
		{ // Go
			reads: []string{"go/bin", "sdk", ".local/go", ".goenv", ".gvm"}, settings: []string{".config/go/env"},
			caches: []string{"go/pkg", "go/pkg/mod", ".cache/go-build", ".cache/golangci-lint"},
			moved:  []string{"GOPATH=go", "GOMODCACHE=go/pkg/mod", "GOCACHE=.cache/go-build", "GOENV=.config/go/env", "GOROOT="},
		},
		{ // Rust
			reads: []string{".rustup", ".cargo/bin", ".cargo/env", ".cache/sccache"}, caches: []string{".cargo/registry", ".cargo/git"},
			settings: []string{".cargo/config.toml", ".cargo/config"}, moved: []string{"RUSTUP_HOME=.rustup", "CARGO_HOME=.cargo"},
		},
		{ // Node.js
			reads: []string{".nvm", ".fnm", ".local/share/fnm", ".volta", ".nodenv", ".npm-global", ".npm-packages",
				".config/yarn/global", ".yarn", ".bun/bin", ".bun/install", ".local/share/pnpm", ".cache/node-gyp", ".cache/Cypress",
				".cache/puppeteer", ".cache/electron"},
			caches: []string{".npm", ".cache/node", ".cache/yarn", ".cache/pnpm", ".local/share/pnpm/store", ".bun/install/cache",
				".cache/ms-playwright"},
			settings: []string{".npmrc", ".yarnrc.yml", ".config/pnpm/rc", ".bunfig.toml"},
			moved: []string{"NVM_DIR=.nvm", "FNM_DIR=.local/share/fnm", "VOLTA_HOME=.volta", "NODENV_ROOT=.nodenv", "N_PREFIX=",
				"NPM_CONFIG_PREFIX=.npm-global", "npm_config_prefix=.npm-global", "NPM_CONFIG_CACHE=.npm", "npm_config_cache=.npm",
				"NPM_CONFIG_USERCONFIG=.npmrc", "npm_config_userconfig=.npmrc", "YARN_CACHE_FOLDER=.cache/yarn",
				"PNPM_HOME=.local/share/pnpm", "BUN_INSTALL=.bun", "PLAYWRIGHT_BROWSERS_PATH=.cache/ms-playwright"},
		},
		{ // Deno
			reads: []string{".deno"}, caches: []string{".cache/deno"}, moved: []string{"DENO_DIR=.cache/deno", "DENO_INSTALL=.deno"},
		},
		{ // Python
			reads: []string{".pyenv", ".local/lib", ".local/pipx/venvs", ".local/share/pipx/venvs", ".local/share/uv/python",
				".local/share/uv/tools", ".local/share/virtualenvs", ".virtualenvs", ".venvs", ".local/share/pypoetry",
				".local/share/hatch", ".local/share/pdm", ".rye", ".conda/envs", ".conda/pkgs", "miniconda3", "anaconda3",
				"miniforge3", "mambaforge", "micromamba", ".cache/pre-commit"},
			caches:   []string{".cache/pip", ".cache/uv", ".cache/ruff", ".cache/pypoetry"},
			settings: []string{".config/pip/pip.conf", ".pip/pip.conf", ".config/uv/uv.toml", ".condarc"},
			secrets: []string{".local/share/pypoetry/auth.toml", "miniconda3/.condarc", "anaconda3/.condarc", "miniforge3/.condarc",
				"mambaforge/.condarc", ".rye/credentials"},
			moved: []string{"PYENV_ROOT=.pyenv", "WORKON_HOME=.virtualenvs", "PIPX_HOME=.local/share/pipx", "PIP_CACHE_DIR=.cache/pip",
				"PIP_CONFIG_FILE=.config/pip/pip.conf", "UV_CACHE_DIR=.cache/uv", "UV_PYTHON_INSTALL_DIR=.local/share/uv/python",
				"UV_TOOL_DIR=.local/share/uv/tools", "POETRY_CACHE_DIR=.cache/pypoetry", "RYE_HOME=.rye", "VIRTUAL_ENV=",
				"CONDA_PREFIX="},
		},
		{ // Java, Kotlin, Scala
			reads: []string{".sdkman", ".jenv", ".jabba", ".jdks", ".m2/wrapper", ".m2/toolchains.xml", ".gradle/wrapper",
				".gradle/jdks", ".gradle/native", ".ivy2/cache", ".ivy2/local", ".sbt/boot", ".sbt/launchers",
				".local/share/coursier", ".konan"},
			caches:  []string{".m2/repository", ".gradle/caches", ".cache/coursier"},
			secrets: []string{".local/share/coursier/credentials.properties"},
			moved: []string{"SDKMAN_DIR=.sdkman", "GRADLE_USER_HOME=.gradle", "COURSIER_CACHE=.cache/coursier", "JAVA_HOME=", "JDK_HOME=",
				"MAVEN_HOME=", "M2_HOME=", "GRADLE_HOME=", "ANT_HOME=", "KOTLIN_HOME="},
		},
		{ // Ruby
			reads: []string{".rbenv", ".rvm", ".gem/ruby", ".local/share/gem/ruby", ".bundle/cache", ".bundle/plugin"},
			moved: []string{"RBENV_ROOT=.rbenv", "rvm_path=.rvm", "GEM_HOME="},
		},
		{ // PHP
			reads: []string{".phpenv", ".phpbrew", ".composer/vendor", ".config/composer/vendor", ".cache/composer", ".composer/cache"},
			moved: []string{"COMPOSER_HOME=.config/composer", "COMPOSER_CACHE_DIR=.cache/composer", "PHPENV_ROOT=.phpenv"},
		},
		{ // .NET
			reads: []string{".dotnet", ".nuget/packages", ".local/share/NuGet"}, secrets: []string{".dotnet/corefx"}, // private keys
			moved: []string{"DOTNET_ROOT=.dotnet", "NUGET_PACKAGES=.nuget/packages"},
		},
		{ // other languages
			reads: []string{".ghcup", ".cabal/bin", ".cabal/packages", ".cabal/store", ".local/state/cabal", ".stack/programs",
				".stack/snapshots", ".stack/pantry", ".stack/setup-exe-cache", ".opam", ".elan", ".juliaup", ".julia/packages",
				".julia/artifacts", ".julia/compiled", ".julia/registries", ".julia/environments",
				"R/x86_64-pc-linux-gnu-library", ".mix", ".hex/packages",
				".asdf", ".pub-cache/hosted", ".pub-cache/git", ".pub-cache/bin", "fvm/versions", ".swiftly",
				".local/share/swiftly", ".zvm", ".cache/zig", ".nimble/bin", ".nimble/pkgs2", ".choosenim", ".luarocks/lib",
				".luarocks/share", ".luarocks/bin", "perl5", ".perlbrew", ".plenv", "Android/Sdk", ".conan2/p",
				".conan2/profiles", ".foundry/bin"},
			secrets: []string{".opam/plugins/opam-publish"},
			moved: []string{"GHCUP_INSTALL_BASE_PREFIX=", "OPAMROOT=.opam", "MIX_HOME=.mix", "ASDF_DATA_DIR=.asdf",
				"PUB_CACHE=.pub-cache", "FLUTTER_ROOT=", "ANDROID_HOME=", "ANDROID_SDK_ROOT=", "VCPKG_ROOT=", "R_LIBS_USER="},
		},
		{ // programs of all languages
			reads: []string{".local/bin", ".local/libexec", ".local/share/mise", ".cache/mise", ".proto/bin", ".proto/tools",
				".proto/shims", ".nix-profile", ".local/state/nix/profile", ".local/state/nix/profiles", ".linuxbrew",
				".cache/bazelisk", ".cache/ccache", ".ccache", ".tool-versions", ".editorconfig"},
			moved: []string{"MISE_DATA_DIR=.local/share/mise", "CCACHE_DIR=.cache/ccache", "HOMEBREW_PREFIX="},
		},
		{ // git: its settings are in git.go
			reads: []string{".config/git/ignore", ".config/git/attributes"},
		},
		{ // ralph's own: the key to act as a person in the dashboard, and the tokens of a fleet, also outside of the home folder
			secrets: []string{".local/state/ralph/hub", ".local/state/ralph/fleet"},
		},
	}
}

// fileVariables name files that programs need: certificates, and the login of an agent that may have this variable.
func fileVariables() []string {
	return []string{"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO",
		"CARGO_HTTP_CAINFO", "PIP_CERT", "AWS_CA_BUNDLE", "GOOGLE_APPLICATION_CREDENTIALS", "CLAUDE_CODE_CLIENT_CERT",
		"CLAUDE_CODE_CLIENT_KEY"}
}

// commonFolders are folders with all kinds of things. None is seen as a whole, even if a variable calls it a toolchain.
func commonFolders() []string {
	return []string{".config", ".cache", ".local", ".local/share", ".local/state", ".ssh", ".gnupg", ".aws"}
}
