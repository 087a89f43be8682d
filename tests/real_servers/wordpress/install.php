<?php
/**
 * Installs a site in the WordPress of the first argument, with ten posts and a picture, and prints the user's name and
 * an application password as a client sends them.
 */
define( 'WP_INSTALLING', true );
require $argv[1] . '/wp-load.php';
require_once ABSPATH . 'wp-admin/includes/upgrade.php';
add_filter( 'pre_wp_mail', '__return_true' );
wp_install( 'Bakery', 'ada', 'ada@example.com', true, '', '0123456789abcdef' );
$picture = wp_insert_attachment( array( 'post_title' => 'Logo', 'post_mime_type' => 'image/png' ), 'logo.png' );
for ( $number = 2; $number <= 10; $number++ ) {
	wp_insert_post( array( 'post_title' => "Recipe $number", 'post_content' => 'Bake it.', 'post_status' => 'publish' ) );
}
wp_set_post_terms( 1, array( 'bread' ) );
list( $password ) = WP_Application_Passwords::create_new_application_password( 1, array( 'name' => 'toolgate' ) );
echo base64_encode( "ada:$password" );
