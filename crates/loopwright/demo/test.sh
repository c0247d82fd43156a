# The tests of slug.sh.
failed=0
expect() {
  got=$(sh slug.sh "$1")
  if [ "$got" != "$2" ]; then
    echo "slug.sh '$1': expected '$2', got '$got'"
    failed=1
  fi
}
expect "My first post" "my-first-post"
expect "Wait, what?" "wait-what"
exit $failed
