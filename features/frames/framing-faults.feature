Feature: Framing faults
  After a faulty frame the broker cannot find the next one. It answers the fault by an Error and closes the connection. Other
  connections are not affected.

  @FRAME-004 @FRAME-006 @FRAME-007 @FRAME-012 @FRAME-013
  Scenario Outline: A frame with <fault>
    Given the client is connected
    When the client sends a frame with <fault>
    Then the client receives Error INVALID_MESSAGE with a new id
    And the broker closes the connection of the client
    And queue "orders" does not exist

    Examples:
      | fault                   |
      | a body length of 0      |
      | a body length of 1      |
      | compression flags 3     |
      | compression flags 255   |
      | data that is not gzip   |
      | data that is not brotli |
      | truncated gzip data     |
      | truncated brotli data   |

  @FRAME-005 @FRAME-008 @FRAME-011 @FRAME-013 @FRAME-019 @FRAME-020
  Scenario Outline: A frame with <fault>
    Given the client is connected
    When the client sends a frame with <fault>
    Then the client receives Error MESSAGE_TOO_LARGE with a new id
    And the broker closes the connection of the client
    And queue "orders" does not exist

    Examples:
      | fault                                               |
      | a body length of one byte over the limit            |
      | the largest body length that four bytes can hold    |
      | a body that decompresses to one byte over the limit |

  @FRAME-005 @FRAME-013
  Scenario Outline: Before the handshake: a frame with <fault>
    Given the client has opened a connection
    When the client sends a frame with <fault>
    Then the client receives Error <code> with a new id
    And the broker closes the connection of the client

    Examples:
      | fault                                    | code              |
      | a body length of 0                       | INVALID_MESSAGE   |
      | a body length of one byte over the limit | MESSAGE_TOO_LARGE |
      | compression flags 3                      | INVALID_MESSAGE   |

  @FRAME-017
  Scenario Outline: A faulty header is refused without waiting for the body
    Given the client is connected
    When the client sends only the five bytes before a body of <length> bytes with compression flags <flags>
    Then the client receives Error <code> with a new id
    And the broker closes the connection of the client

    Examples:
      | length     | flags | code              |
      | 1048577    | 0     | MESSAGE_TOO_LARGE |
      | 4294967295 | 0     | MESSAGE_TOO_LARGE |
      | 100        | 9     | INVALID_MESSAGE   |

  @FRAME-014
  Scenario: Commands before the fault are carried out and answered
    Given the publisher is connected
    When the publisher sends a Publish of message "m0" and right after it a frame with a body length of 0
    Then the publisher receives in this order:
      | command    | id               |
      | PublishAck | m0               |
      | Error      | the broker's own |
    And the broker closes the connection of the publisher
    And queue "orders" has 1 waiting message

  @FRAME-009
  Scenario: After framing faults the broker serves new connections
    Given client A is connected
    And client B is connected
    When client A sends a frame with a body length of 1
    And client B sends a frame with data that is not brotli
    Then client A receives Error INVALID_MESSAGE
    And client B receives Error INVALID_MESSAGE
    And the broker serves a new connection

  @FRAME-009 @FRAME-027
  Scenario: After a body that decompresses to more than 64 MiB the broker serves other connections
    Given client A is connected
    And client B is connected
    When client A sends a frame with a body that decompresses to 65 MiB
    Then client A receives Error MESSAGE_TOO_LARGE
    And the connection of client B stays open
    And the broker serves a new connection

  @FRAME-010
  Scenario: Other connections are not affected
    Given the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And client A is connected
    When client A sends a frame with compression flags 255
    Then client A receives Error INVALID_MESSAGE
    When the publisher publishes message "m2" to queue "orders"
    Then messages "m1, m2" are confirmed to the publisher
    And the subscriber receives messages "m1, m2"
