<?php
/**
 * The addresses of WordPress.com before a WordPress: its token endpoint, and `/wp/v2/sites/SITE`, with an application
 * password for a token.
 */
$folder = dirname( getenv( 'WORDPRESS_CONFIG' ) );
$token  = file_get_contents( "$folder/token" );
$path   = parse_url( $_SERVER['REQUEST_URI'], PHP_URL_PATH );
if ( '/oauth2/token' === $path ) {
	$known = 'the-client' === ( $_POST['client_id'] ?? '' ) && 'the-client-secret' === ( $_POST['client_secret'] ?? '' );
	$known = $known && 'a-code' === ( $_POST['code'] ?? '' );
	header( 'Content-Type: application/json' );
	http_response_code( $known ? 200 : 400 );
	echo json_encode( $known ? array( 'access_token' => $token, 'token_type' => 'bearer', 'scope' => 'global' ) : array( 'error' => 'invalid_grant' ) );
} elseif ( preg_match( '#^/wp/v2/sites/bakery\.example(/.*)$#', $path, $found ) ) {
	$_GET['rest_route'] = '/wp/v2' . $found[1];
	if ( preg_match( '/^Bearer (.+)$/', $_SERVER['HTTP_AUTHORIZATION'] ?? '', $found ) ) {
		list( $user, $password )   = explode( ':', base64_decode( $found[1] ) ) + array( '', '' );
		$_SERVER['PHP_AUTH_USER'] = $user;
		$_SERVER['PHP_AUTH_PW']   = $password;
	}
	require trim( file_get_contents( "$folder/wordpress" ) ) . '/index.php';
} else {
	http_response_code( 404 );
}
