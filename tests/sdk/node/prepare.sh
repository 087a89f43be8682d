#!/bin/sh
# prepare.sh FOLDER: builds and packs the Node client and installs the package into an empty folder, as a
# user would; it depends on nothing, so no registry is asked.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
clean=$1
PATH=$("$here/../../node/setup.sh"):$PATH
tools=$TOOLGATE_TEST_TOOLS/sdk/node

cp -r "$here/../../../sdk/clients/node" "$clean/source"
ln -s "$tools/node_modules" "$clean/source/node_modules"
(cd "$clean/source" && npm pack --silent --offline --pack-destination "$clean" > /dev/null)
rm -r "$clean/source"
mkdir "$clean/app"
echo '{ "name": "app", "private": true, "type": "module" }' > "$clean/app/package.json"
(cd "$clean/app" && npm install --silent --offline --no-audit --no-fund "$clean"/toolgate-*.tgz)

cp "$here/drive.js" "$clean/app/"
cat > "$clean/drive" <<RUN
#!/bin/sh
exec "$(command -v node)" "$clean/app/drive.js" "\$@"
RUN
chmod +x "$clean/drive"
