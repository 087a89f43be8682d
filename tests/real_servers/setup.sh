#!/bin/sh
# Unpacks Alertmanager, RabbitMQ with Erlang, InfluxDB, the Docker registry, MediaWiki and WordPress with PHP, and MariaDB
# from the Debian packages of packages.txt and php.txt, and installs MLflow and moto as pinned in requirements.txt and
# Home Assistant as home_assistant.txt says, into $TOOLGATE_TEST_TOOLS/real_servers (default: target/test-tools).
# Nothing is installed on the machine and no service is started. Does nothing where they are there already.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${TOOLGATE_TEST_TOOLS:-$here/../../target/test-tools}"
tools=$(cd "${TOOLGATE_TEST_TOOLS:-$here/../../target/test-tools}" && pwd)/real_servers
pins() { cat "$here"/*.txt "$here/home_assistant.py" "$here/setup.sh"; }

for program in apt-get dpkg-deb python3; do
    command -v "$program" >/dev/null || { echo "$program is missing: these tests need Debian or Ubuntu with python3-venv." >&2; exit 1; }
done

# The version of PHP is a part of the names of its packages.
names() {
    # Its words are those of the locale.
    php=$(LC_ALL=C apt-cache depends php-cli | sed -n 's/^ *Depends: \(php[0-9.]*\)-cli$/\1/p')
    [ -n "$php" ] || return 1
    cat "$here/packages.txt"
    sed "s/^/$php-/" "$here/php.txt"
}

# The libraries that PHP and MariaDB need and this machine lacks.
libraries() {
    # shellcheck disable=SC2046
    apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances \
        $(grep -e '^php' -e '-core$' "$tools/names") \
        | grep '^lib' | sort -u | while read -r library; do
            dpkg-query -Wf '${db:Status-Abbrev}' "$library" 2>/dev/null | grep -q '^ii' || echo "$library"
        done
}

download() {
    names > "$tools/names" && libraries >> "$tools/names"
    # shellcheck disable=SC2046
    (cd "$tools/debian" && apt-get download -qq $(cat "$tools/names") 2>"$tools/apt.log")
}

# A program with its own libraries: program NAME FILE [ARGUMENT].
program() {
    {
        echo '#!/bin/sh'
        echo "export LD_LIBRARY_PATH='$libraries' PHP_INI_SCAN_DIR="
        echo "exec '$tools/root/usr/$2' $3 \"\$@\""
    } > "$tools/bin/$1"
    chmod 755 "$tools/bin/$1"
}

# PHP reads its modules from the folder that php.ini names, and MediaWiki and WordPress are where no link leads out.
web() {
    libraries=$tools/root/usr/lib/$(uname -m)-linux-gnu
    php=$(cd "$tools/root/usr/bin" && echo php[0-9]*)
    modules=$(dirname "$tools"/root/usr/lib/php/*/mysqli.so)
    mkdir "$tools/bin"
    program php "bin/$php" "-c '$tools/php.ini'"
    # MariaDB runs as root only where it is told to.
    program mariadbd sbin/mariadbd "--no-defaults --basedir='$tools/root/usr' --user=\"\$(id -un)\""
    program mariadb-install-db bin/mariadb-install-db "--no-defaults --basedir='$tools/root/usr' --user=\"\$(id -un)\""
    {
        echo "extension_dir = '$modules'"
        # In the order in which they need each other.
        for module in ctype dom exif fileinfo iconv intl mbstring mysqlnd mysqli pdo pdo_sqlite posix simplexml sqlite3 \
            tokenizer wikidiff2 xml xmlreader xmlwriter; do
            echo "extension = $module"
        done
    } > "$tools/php.ini"
    wiki=$tools/root/usr/share/mediawiki
    rm -f "$wiki/LocalSettings.php" "$wiki/config" "$wiki/extensions" "$wiki/images"
    mkdir "$wiki/extensions"
    mv "$wiki/extensions-core/TextExtracts" "$wiki/extensions"
    rm -r "$wiki/extensions-core"
    cat > "$tools/root/usr/share/wordpress/wp-config.php" <<'PHP'
<?php
require getenv( 'WORDPRESS_CONFIG' );
require_once ABSPATH . 'wp-settings.php';
PHP
}

home_assistant() {
    home=$tools/home_assistant
    "$here/../python/venv.sh" "$home" -r "$here/home_assistant.txt"
    "$home/bin/python" "$here/home_assistant.py" > "$tools/integrations.txt"
    constraints=$(echo "$home"/lib/python*/site-packages/homeassistant/package_constraints.txt)
    "$here/../python/install.sh" "$home" -r "$here/home_assistant.txt" -r "$tools/integrations.txt" -c "$constraints"
    # No test opens its page; the folder has to be there.
    rm -r "$home"/lib/python*/site-packages/hass_frontend/frontend_es5/*
}

if ! { [ -f "$tools/.installed" ] && pins | cmp -s - "$tools/.installed"; }; then
    rm -rf "$tools"
    mkdir -p "$tools/debian" "$tools/root"
    # A fresh machine has no lists of packages, an old one lists of versions that are gone.
    download || { [ "$(id -u)" -ne 0 ] || apt-get update -qq; download; } \
        || { cat "$tools/apt.log" >&2; echo "Run 'apt-get update' as root first." >&2; exit 1; }
    for package in "$tools"/debian/*.deb; do
        dpkg-deb -x "$package" "$tools/root"
    done
    rm -r "$tools/debian"

    # Erlang's start script names the folder in which it is installed.
    sed -i "s#ROOTDIR=/usr/lib/erlang#ROOTDIR='$tools/root/usr/lib/erlang'#" "$tools"/root/usr/lib/erlang/bin/erl
    # Debian's Alertmanager reads its templates from a path in the program. The path that replaces it has the same
    # length and is relative to the working directory, in which the test starts it.
    LC_ALL=C sed -i 's#/usr/share/prometheus/alertmanager#./././././././././././alertmanager#g' \
        "$tools/root/usr/bin/prometheus-alertmanager"
    # The folder's name has the version of the server.
    ln -s "$(cd "$tools"/root/usr/lib/rabbitmq/lib/rabbitmq_server-* && pwd)" "$tools/rabbitmq"

    web
    "$here/../python/venv.sh" "$tools/python" --no-deps -r "$here/requirements.txt"
    home_assistant
    pins > "$tools/.installed"
fi
