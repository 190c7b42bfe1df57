Feature: Compressed frames
  The flags of each frame say whether its body is compressed. A sender compresses with the negotiated algorithm, and only bodies
  of at least CompressionThreshold bytes. A receiver reads each frame according to its flags.

  @COMPRESS-006 @COMPRESS-007 @COMPRESS-016
  Scenario Outline: A long message reaches a subscriber compressed with <algorithm>
    Given the subscriber is connected and offers "<algorithm>"
    And the subscriber subscribes to queue "orders"
    When the publisher publishes message "m1" of 4 KiB to queue "orders"
    Then the subscriber receives message "m1" compressed with <algorithm>

    Examples:
      | algorithm |
      | brotli    |
      | gzip      |

  @COMPRESS-005
  Scenario: A short message is sent uncompressed
    Given the subscriber is connected and offers "brotli,gzip"
    And the subscriber subscribes to queue "orders"
    When the publisher publishes message "m1" of 900 bytes to queue "orders"
    Then the subscriber receives message "m1" uncompressed

  @COMPRESS-005 @COMPRESS-006
  Scenario: The threshold is configurable and applies to the body
    Given a broker with these settings:
      | compressionThreshold | 100 bytes |
    And the subscriber is connected and offers "gzip"
    And the subscriber subscribes to queue "orders"
    When the publisher publishes message "m1" in a body of exactly 99 bytes to queue "orders"
    And the publisher publishes message "m2" in a body of exactly 100 bytes to queue "orders"
    Then the subscriber receives message "m1" uncompressed
    And the subscriber receives message "m2" compressed with gzip

  @COMPRESS-004 @COMPRESS-017
  Scenario: A subscriber that negotiated no compression receives all messages uncompressed
    Given the subscriber subscribes to queue "orders"
    And the publisher is connected and offers "gzip"
    When the publisher publishes message "m1" of 4 KiB compressed with gzip to queue "orders"
    Then message "m1" is confirmed to the publisher
    And the subscriber receives message "m1" uncompressed

  @COMPRESS-002 @COMPRESS-003 @COMPRESS-016
  Scenario Outline: A message that is published compressed with <algorithm> is delivered unchanged
    Given the subscriber subscribes to queue "orders"
    And the publisher is connected and offers "<algorithm>"
    When the publisher publishes message "m1" of 64 KiB compressed with <algorithm> to queue "orders"
    Then the subscriber receives message "m1" with a payload of 64 KiB

    Examples:
      | algorithm |
      | brotli    |
      | gzip      |

  @COMPRESS-016
  Scenario: A message that is published with gzip is delivered with brotli
    Given the subscriber is connected and offers "brotli"
    And the subscriber subscribes to queue "orders"
    And the publisher is connected and offers "gzip"
    When the publisher publishes message "m1" of 8 KiB compressed with gzip to queue "orders"
    Then the subscriber receives message "m1" of 8 KiB compressed with brotli

  @COMPRESS-001
  Scenario: Compressed and uncompressed frames follow each other
    Given the subscriber subscribes to queue "orders"
    And the publisher is connected and offers "gzip"
    When the publisher publishes message "m1" of 4 KiB compressed with gzip to queue "orders"
    And the publisher publishes message "m2" to queue "orders"
    And the publisher publishes message "m3" of 4 KiB compressed with gzip to queue "orders"
    Then messages "m1 to m3" are confirmed to the publisher
    And the subscriber receives messages "m1 to m3"

  @COMPRESS-018
  Scenario: A compressed frame may be short
    Given the subscriber subscribes to queue "orders"
    And the publisher is connected and offers "gzip"
    When the publisher publishes message "m1" compressed with gzip to queue "orders"
    Then message "m1" is confirmed to the publisher
    And the subscriber receives message "m1"

  @COMPRESS-014
  Scenario Outline: After the handshake the broker reads a <algorithm> frame, whatever was negotiated
    Given the client is connected
    When the client sends a Ping with id "ping-1" compressed with <algorithm>
    Then the client receives a Pong with id "ping-1"

    Examples:
      | algorithm |
      | gzip      |
      | brotli    |

  @COMPRESS-015
  Scenario: Before the handshake the broker refuses a compressed frame
    Given the client has opened a connection
    When the client sends a Ping with id "ping-1" compressed with gzip
    Then the client receives Error INVALID_MESSAGE
    And the broker closes the connection of the client

  @FRAME-026
  Scenario Outline: The broker accepts a body that decompresses with <algorithm> to exactly the limit
    Given the subscriber subscribes to queue "orders"
    And the publisher is connected and offers "<algorithm>"
    When the publisher publishes message "m1" in a body that decompresses with <algorithm> to exactly 1048576 bytes to queue "orders"
    Then message "m1" is confirmed to the publisher
    And the subscriber receives message "m1"

    Examples:
      | algorithm |
      | gzip      |
      | brotli    |
